"""Transcripts are durable before the outcome is recorded, in groups under load, and never cost a delivery."""

import asyncio
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from switchyard.backends.http import archive
from switchyard.backends.http.archive import Archive, Transcript
from switchyard.backends.http.handler import HttpHandler
from switchyard.errors import StoreUnavailable
from switchyard.handlers import Draft, Success
from switchyard.store import open_store
from switchyard.store.file import FileStore
from switchyard.transcript import read_transcript
from tests.integration.backends.http.corpus.case import silence
from tests.integration.backends.http.making import action, context, handler, kept, work
from tests.integration.backends.http.servers import CountingServer, counting, raw
from tests.integration.conductor.yard import Yard
from tests.unit.conductor.dispatching import Dispatching
from tests.waiting import eventually


class Gate(FileStore):
    """A store that waits to be let through."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.entered, self.gate = threading.Event(), threading.Event()
        self.puts: list[str] = []

    def put(self, key: str, data: bytes, *, if_absent: bool = False) -> bool:
        self.puts.append(key)
        self.entered.set()
        self.gate.wait(30)
        return super().put(key, data, if_absent=if_absent)


def transcripts(*lines: bytes) -> list[Transcript]:
    return [Transcript(work(), partial(bytes, line), {}) for line in lines]


async def test_what_comes_during_a_write_is_the_next_object(tmp_path: Path) -> None:
    store = Gate(tmp_path)
    async with counting() as server, handler(tmp_path, store=store, concurrency=20) as made:
        dispatching = Dispatching(made)
        first, *others = [work({"url": server.url}) for _ in range(20)]
        dispatching.start(first)
        await asyncio.to_thread(store.entered.wait, 30)
        for one in others:
            dispatching.start(one)
        await eventually(lambda: len(server.asked) == 20)
        assert (dispatching.table.decided, dispatching.table.undecided) == (0, 20)
        store.gate.set()
        outcomes = await dispatching.outcomes()
    records = [kept(tmp_path, outcome) for outcome in outcomes]
    assert {record["action_uuid"] for record in records} == {str(one.uuid) for one in (first, *others)}
    assert len(store.puts) <= 3


async def test_alone_a_transcript_lies_under_its_own_action(tmp_path: Path) -> None:
    async with counting() as server, handler(tmp_path) as made:
        asked = work({"url": server.url}, run=2, attempt=4)
        outcome = await made.dispatch(asked)
    assert outcome.detail["transcript"] == {"key": f"callbacks/{asked.uuid}/r2-a4.jsonl", "line": 0}


async def test_the_transcripts_of_a_group_are_all_found(tmp_path: Path) -> None:
    async with counting() as server, handler(tmp_path, concurrency=50) as made:
        works = [work({"url": server.url}) for _ in range(150)]
        drafts = [
            draft for draft in await asyncio.gather(*map(made.draft, works)) if isinstance(draft, Draft)
        ]
        await made.conclude(drafts)
    outcomes = [draft.outcome for draft in drafts]
    records = [kept(tmp_path, outcome) for outcome in outcomes]
    assert [record["action_uuid"] for record in records] == [str(one.uuid) for one in works]
    assert len({outcome.detail["transcript"]["key"] for outcome in outcomes}) == 1


async def test_one_after_the_other_without_a_pause_never_waits_for_ever(tmp_path: Path) -> None:
    """A refused address does not wait for anything: the next transcript comes as the writer ends."""
    async with handler(tmp_path) as made:
        for _ in range(20):
            outcome = await asyncio.wait_for(made.dispatch(work({"url": "http://10.0.0.1/"})), 30)
            assert "transcript" in outcome.detail


async def test_groups_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "LARGEST_GROUP", 4)
    monkeypatch.setattr(archive, "LARGEST_BYTES", 100)
    several = transcripts(*(b"x" * size for size in [10] * 9 + [60, 60, 500, 10]))
    await Archive(open_store(f"file://{tmp_path}")).keep(several)
    groups: dict[str, int] = {}
    for one in several:
        key = one.detail["transcript"]["key"]
        groups[key] = groups.get(key, 0) + 1
    assert list(groups.values()) == [4, 4, 3, 1, 1]


async def test_a_store_that_is_not_a_folder_costs_the_transcript_only(tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text("in the way")
    async with counting() as server, handler(place) as made:
        outcome = await made.dispatch(work({"url": server.url}))
    assert isinstance(outcome, Success)
    assert outcome.detail["transcript_error"]
    assert len(server.asked) == 1


async def test_a_store_that_is_full_or_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Full(FileStore):
        def put(self, key: str, data: bytes, *, if_absent: bool = False) -> bool:
            raise StoreUnavailable("No space left on device")

    [one] = transcripts(b"{}")
    await Archive(Full(tmp_path)).keep([one])
    assert one.detail == {"transcript_error": "No space left on device"}
    monkeypatch.setattr(archive, "PATIENCE", 0.1)
    hanging = Gate(tmp_path)
    [another] = transcripts(b"{}")
    await Archive(hanging).keep([another])
    hanging.gate.set()
    assert "did not answer within" in another.detail["transcript_error"]


async def test_an_answer_in_time_counts_however_long_the_store_takes(
    tmp_path: Path, yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The action's time is over before the store's patience is: the delivery counts, and is not repeated."""
    monkeypatch.setattr(archive, "PATIENCE", 1.0)
    hanging = Gate(tmp_path)
    plain = context(tmp_path)
    server = CountingServer()
    async with counting(server):
        request = {"url": server.url}
        made = HttpHandler("webhook", action(request=request), replace(plain, store=hanging))
        await made.start()
        [uuid] = yard.submit()
        await yard.drain(yard.served(made, timeout="300ms"))
        hanging.gate.set()
        await made.close()
    assert yard.events(uuid) == [("SUCCESSFUL", 1, False)]
    assert len(server.asked) == 1


async def test_a_stop_while_the_store_hangs_does_not_take_the_delivery_back(
    tmp_path: Path, yard: Yard
) -> None:
    hanging = Gate(tmp_path)
    async with counting() as server, handler(tmp_path, store=hanging, request={"url": server.url}) as made:
        [uuid] = yard.submit()
        yard.start(yard.served(made), grace="200ms")
        await asyncio.to_thread(hanging.entered.wait, 30)
        await yard.stop()
        hanging.gate.set()
    assert yard.events(uuid) == [("SUCCESSFUL", 1, False)]
    assert len(server.asked) == 1


async def test_a_server_that_does_not_answer_in_time_leaves_a_transcript(tmp_path: Path, yard: Yard) -> None:
    async with raw(silence) as server:
        made = HttpHandler("webhook", action(request={"url": server.url}, timeout="300ms"), context(tmp_path))
        await made.start()
        yard.submit()
        await yard.drain(yard.served(made, timeout="300ms", retry={"base": "1h", "max": "1h"}))
        await made.close()
    [(error, detail)] = yard.database.execute("select error, detail from switchyard.event")
    assert error.endswith("no answer within 0.3 s")
    assert read_transcript(open_store(f"file://{tmp_path}"), detail)["response"] is None
