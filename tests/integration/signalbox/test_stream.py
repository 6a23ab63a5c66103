"""The stream of a page's regions."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from signalbox.access.roles import Caller, Role
from signalbox.live.poller import Live, Page
from tests.integration.signalbox.conftest import Connect, Jobs, Token

READER = Page("/queues", "", Caller("a", Role.READER))


def regions(frame: bytes) -> Any:
    return json.loads(frame.partition(b"data: ")[2])


async def next_of(stream: AsyncIterator[bytes]) -> bytes:
    async with asyncio.timeout(60):
        return await anext(stream)


class Pages:
    """What the poller reads, counted."""

    def __init__(self) -> None:
        self.reads = 0
        self.content = {"a": "1", "b": "1"}

    async def read(self, _page: Page) -> dict[str, str]:
        self.reads += 1
        return dict(self.content)


@pytest.fixture
def pages() -> Pages:
    return Pages()


def live_of(pages: Pages) -> Live:
    live = Live(0.01)
    live.read = pages.read
    return live


async def test_only_regions_that_changed_are_sent(pages: Pages) -> None:
    stream = live_of(pages).watch(READER)
    assert (await next_of(stream)).startswith(b"retry: ")
    assert regions(await next_of(stream)) == {"a": "1", "b": "1"}
    pages.content["b"] = "2"
    assert regions(await next_of(stream)) == {"b": "2"}
    await stream.aclose()


async def test_a_slow_reader_skips_and_then_has_everything(pages: Pages) -> None:
    live = live_of(pages)
    slow, quick = live.watch(READER), live.watch(READER)
    for stream in (slow, quick):
        await next_of(stream)
        await next_of(stream)
    for number in ("2", "3"):
        pages.content["a"] = number
        await next_of(quick)
    assert regions(await next_of(slow)) == {"a": "3", "b": "1"}
    await slow.aclose()
    await quick.aclose()


async def test_watchers_of_one_page_share_its_reading_and_its_bytes(pages: Pages) -> None:
    live = live_of(pages)
    streams = [live.watch(Page("/queues", "", Caller(str(n), Role.READER))) for n in range(50)]
    for stream in streams:
        await next_of(stream)
    frames = [await next_of(stream) for stream in streams]
    assert len({id(frame) for frame in frames}) == 1
    assert pages.reads < 50
    for stream in streams:
        await stream.aclose()


async def test_nothing_is_read_while_nobody_watches(pages: Pages) -> None:
    live = live_of(pages)
    stream = live.watch(READER)
    await next_of(stream)
    await next_of(stream)
    await stream.aclose()
    await asyncio.sleep(0.05)
    before = pages.reads
    await asyncio.sleep(0.1)
    assert pages.reads == before


async def test_submitters_do_not_share_a_page() -> None:
    ann, bob = (Page("/jobs", "", Caller(name, Role.SUBMITTER)) for name in ("ann", "bob"))
    assert ann.key != bob.key


async def test_a_stop_ends_every_stream(pages: Pages) -> None:
    live = live_of(pages)
    stream = live.watch(READER)
    await next_of(stream)
    await next_of(stream)
    live.close()
    with pytest.raises(StopAsyncIteration):
        await next_of(stream)


async def test_a_page_that_cannot_be_read_now_is_read_again(pages: Pages) -> None:
    live, good = Live(0.01), pages.read

    async def fails(_page: Page) -> dict[str, str]:
        live.read = good
        raise RuntimeError("once")

    live.read = fails
    stream = live.watch(READER)
    await next_of(stream)
    assert regions(await next_of(stream)) == {"a": "1", "b": "1"}
    await stream.aclose()


async def test_a_page_that_takes_long_to_read_delays_no_other(pages: Pages) -> None:
    live, read = Live(0.01), pages.read
    answers = asyncio.Event()

    async def hangs(page: Page) -> dict[str, str]:
        if page is not READER:
            await answers.wait()
        return await read(page)

    live.read = hangs
    slow, quick = live.watch(Page("/jobs", "", READER.caller)), live.watch(READER)
    assert (await next_of(slow)).startswith(b"retry: ")
    assert (await next_of(quick)).startswith(b"retry: ")
    assert regions(await next_of(quick)) == {"a": "1", "b": "1"}
    pages.content["b"] = "2"
    assert regions(await next_of(quick)) == {"b": "2"}
    answers.set()
    assert regions(await next_of(slow)) == {"a": "1", "b": "2"}
    await slow.aclose()
    await quick.aclose()


async def test_a_page_that_the_role_may_not_read_cannot_be_watched(connect: Connect, token: Token) -> None:
    client = await connect(access={})
    submitter = token("submitter")
    for path, status in (
        ("/queues", 403),
        ("/nothing", 404),
        ("/jobs:cancel", 403),
        ("/actions", 404),
        ("//evil.example", 404),
    ):
        answer = await client.get("/stream", params={"path": path}, headers=submitter)
        assert answer.status_code == status, path


async def test_the_regions_of_a_page_are_those_of_its_template(connect: Connect, jobs: Jobs) -> None:
    from signalbox.live.regions import read_regions

    client = await connect()
    jobs.submit()
    site = client.site  # type: ignore[attr-defined]
    found = await read_regions(site, Page("/jobs", "limit=5", Caller("a", Role.READER)))
    assert "nutrient" in found["jobs"]
