"""Transcripts are durable before the outcome is told, in groups under load, and never cost a delivery."""

import asyncio
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from conductor.handlers.http import HttpHandler, archive
from conductor.handlers.http.archive import Archive
from switchyard.errors import StoreUnavailable
from switchyard.outcome import Success
from switchyard.store import open_store
from switchyard.store.file import FileStore
from switchyard.transcript import read_transcript
from tests.integration.conductor.http.corpus.case import silence
from tests.integration.conductor.http.making import action, context, handler, kept, work
from tests.integration.conductor.http.servers import CountingServer, counting, raw
from tests.integration.conductor.yard import Yard


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


async def test_what_comes_during_a_write_is_the_next_object(tmp_path: Path) -> None:
    store = Gate(tmp_path)
    kept_by = Archive(store)
    works = [work() for _ in range(20)]
    tasks = [
        asyncio.create_task(kept_by.keep(one, partial(b'{"n": %d}'.__mod__, number)))
        for number, one in enumerate(works)
    ]
    await asyncio.to_thread(store.entered.wait, 30)
    assert not any(task.done() for task in tasks)
    store.gate.set()
    places = await asyncio.gather(*tasks)
    await kept_by.close()
    plain = open_store(f"file://{tmp_path}")
    assert [read_transcript(plain, place) for place in places] == [{"n": number} for number in range(20)]
    assert len(store.puts) <= 2 * archive.WRITERS


async def test_alone_a_transcript_lies_under_its_own_action(tmp_path: Path) -> None:
    async with counting() as server, handler(tmp_path) as made:
        asked = work({"url": server.url}, run=2, attempt=4)
        outcome = await made.dispatch(asked)
    assert outcome.detail["transcript"] == {"key": f"callbacks/{asked.uuid}/r2-a4.jsonl", "line": 0}


async def test_many_at_once_are_all_found_again(tmp_path: Path) -> None:
    async with counting() as server, handler(tmp_path, concurrency=50) as made:
        works = [work({"url": server.url}) for _ in range(150)]
        outcomes = await asyncio.gather(*map(made.dispatch, works))
    records = [kept(tmp_path, outcome) for outcome in outcomes]
    assert [record["action_uuid"] for record in records] == [str(one.uuid) for one in works]
    assert len({outcome.detail["transcript"]["key"] for outcome in outcomes}) < 150


async def test_one_after_the_other_without_a_pause_never_waits_for_ever(tmp_path: Path) -> None:
    """A refused address does not wait for anything: the next transcript comes as the writer ends."""
    async with handler(tmp_path) as made:
        for _ in range(20):
            outcome = await asyncio.wait_for(made.dispatch(work({"url": "http://10.0.0.1/"})), 30)
            assert "transcript" in outcome.detail


async def test_groups_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "LARGEST_GROUP", 4)
    monkeypatch.setattr(archive, "LARGEST_BYTES", 100)
    kept_by = Archive(open_store(f"file://{tmp_path}"))
    sizes = [10] * 9 + [60, 60, 500, 10]
    places = await asyncio.gather(*(kept_by.keep(work(), partial(bytes, size)) for size in sizes))
    groups: dict[str, int] = {}
    for place in places:
        key = place["transcript"]["key"]
        groups[key] = groups.get(key, 0) + 1
    assert list(groups.values()) == [4, 4, 3, 1, 1]


async def test_a_store_that_is_no_folder_costs_the_transcript_only(tmp_path: Path) -> None:
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

    assert await Archive(Full(tmp_path)).keep(work(), lambda: b"{}") == {
        "transcript_error": "No space left on device"
    }
    monkeypatch.setattr(archive, "PATIENCE", 0.1)
    hanging = Gate(tmp_path)
    told = await Archive(hanging).keep(work(), lambda: b"{}")
    hanging.gate.set()
    assert "did not answer within" in told["transcript_error"]


async def test_an_answer_in_time_counts_however_long_the_store_takes(
    tmp_path: Path, yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The action's time is over before the store's patience is: the delivery stands, and is not repeated."""
    monkeypatch.setattr(archive, "PATIENCE", 1.0)
    hanging = Gate(tmp_path)
    plain = context(tmp_path)
    server = CountingServer()
    async with counting(server):
        request = {"url": server.url}
        made = HttpHandler("webhook", action(request=request), replace(plain, store=hanging))
        await made.start()
        [uuid] = yard.submit()
        await yard.drain(yard.line(made, timeout="300ms"))
        hanging.gate.set()
        await made.close()
    assert yard.events(uuid) == [("SUCCESSFUL", 1, False)]
    assert len(server.asked) == 1


async def test_a_server_that_does_not_answer_in_time_leaves_a_transcript(tmp_path: Path, yard: Yard) -> None:
    async with raw(silence) as server:
        made = HttpHandler("webhook", action(request={"url": server.url}, timeout="300ms"), context(tmp_path))
        await made.start()
        yard.submit()
        await yard.drain(yard.line(made, timeout="300ms", retry={"base": "1h", "max": "1h"}))
        await made.close()
    [(error, detail)] = yard.database.execute("select error, detail from switchyard.event")
    assert error.endswith("no answer within 0.3 s")
    assert read_transcript(open_store(f"file://{tmp_path}"), detail)["response"] is None
