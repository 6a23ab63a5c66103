"""Nothing is sent twice by itself, and `sent` is false only where surely nothing was."""

import asyncio
from pathlib import Path

import aiohttp
import pytest

from switchyard.handlers import Retry, Success
from tests.integration.backends.http.corpus.case import silence
from tests.integration.backends.http.making import handler, work
from tests.integration.backends.http.servers import RawServer, raw, read_request

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"


class Stale:
    """Answers the first request of a connection, takes the second one, and hangs up on it."""

    def __init__(self) -> None:
        self.taken = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.taken += 1
        writer.write(ANSWER)
        await writer.drain()
        if await read_request(reader):
            self.taken += 1


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE", "HEAD", "POST", "PATCH"])
async def test_a_dead_pooled_connection_is_not_a_reason_to_send_again(method: str, tmp_path: Path) -> None:
    speak = Stale()
    request = {"method": method, "body": None}
    async with raw(speak) as server, handler(tmp_path, request=request, concurrency=1) as made:
        first = await made.dispatch(work({"url": server.url}))
        second = await made.dispatch(work({"url": server.url}))
    assert isinstance(first, Success)
    assert isinstance(second, Retry)
    assert second.sent
    assert (speak.taken, server.connections) == (2, 1)


async def test_a_session_of_aiohttp_would_send_again() -> None:
    """The test of the test: what our client has no code for does happen with theirs."""
    speak = Stale()
    async with raw(speak) as server, aiohttp.ClientSession() as session:
        for _ in range(2):
            async with session.get(server.url) as response:
                await response.read()
    assert speak.taken == 3


async def test_at_most_once_opens_a_connection_of_its_own_each_time(tmp_path: Path) -> None:
    speak = Stale()
    async with raw(speak) as server, handler(tmp_path, delivery="at_most_once") as made:
        for _ in range(3):
            assert isinstance(await made.dispatch(work({"url": server.url})), Success)
    assert server.connections == 3


async def test_a_second_answer_without_a_request_is_not_taken_for_the_next(tmp_path: Path) -> None:
    """One request, two answers on the wire: the next delivery must not end with the smuggled one."""
    counted = RawServer()
    taken, again = asyncio.Event(), asyncio.Event()

    async def twice(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        counted.requests += 1
        if counted.requests == 1:
            writer.write(ANSWER)
            await writer.drain()
            await taken.wait()  # this is another packet
            writer.write(ANSWER)
            again.set()
        else:
            writer.write(b"HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        await reader.read()

    async with raw(twice) as server, handler(tmp_path, concurrency=1) as made:
        await made.dispatch(work({"url": server.url}))
        taken.set()
        await again.wait()
        for _ in range(3):
            await asyncio.sleep(0)  # the loop goes round, and reads what lies there
        second = await made.dispatch(work({"url": server.url}))
    assert isinstance(second, Retry)
    assert second.detail.get("status") == 500


async def test_hole_37_a_place_that_answers_late_a_second_time_decides_no_more_than_one_delivery(
    tmp_path: Path,
) -> None:
    """The second answer comes with the next request on its connection; after the first, nothing is reused."""

    async def twice(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(ANSWER)
        while await read_request(reader):
            writer.write(b"HTTP/1.1 500 Late\r\nContent-Length: 0\r\n\r\n")
            await writer.drain()
            await asyncio.sleep(0.005)
            writer.write(ANSWER)

    async with raw(twice) as server, handler(tmp_path, concurrency=1) as made:
        outcomes = []
        for _ in range(12):
            outcomes.append(await made.dispatch(work({"url": server.url})))
            await asyncio.sleep(0.05)  # the answer to this request arrives, unasked for by then
    assert [isinstance(outcome, Success) for outcome in outcomes].count(False) == 1
    assert server.connections == 11


async def test_a_place_that_closes_idle_connections_keeps_its_others(tmp_path: Path) -> None:
    async def leaves(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(ANSWER)
        if await read_request(reader):
            writer.write(ANSWER)
        await writer.drain()

    async with raw(leaves) as server, handler(tmp_path, concurrency=1) as made:
        for _ in range(6):
            assert isinstance(await made.dispatch(work({"url": server.url})), Success)
            await asyncio.sleep(0.01)
    assert server.connections == 3


async def test_a_server_that_accepts_no_connection_is_unsent(tmp_path: Path) -> None:
    async with handler(tmp_path) as made:
        outcome = await made.dispatch(work({"url": "http://127.0.0.1:9/"}))
    assert isinstance(outcome, Retry)
    assert not outcome.sent
    assert outcome.error == "127.0.0.1:9: no connection: Connection refused"


async def test_a_handshake_that_never_ends_is_unsent_and_ends_in_time(tmp_path: Path) -> None:
    async with raw(silence) as server, handler(tmp_path, timeouts={"connect": "300ms"}) as made:
        outcome = await made.dispatch(work({"url": server.url.replace("http:", "https:")}))
    assert isinstance(outcome, Retry)
    assert not outcome.sent
    assert "connect time-out" in outcome.error


async def test_a_connect_time_out_as_long_as_the_total_one_is_still_unsent(tmp_path: Path) -> None:
    async with handler(
        tmp_path, timeout="400ms", timeouts={"connect": "10s"}, allow_networks=["0.0.0.0/0"]
    ) as made:
        outcome = await made.dispatch(work({"url": "https://127.0.0.1:9/"}))
    assert isinstance(outcome, Retry)
    assert not outcome.sent


async def test_cancelling_a_dispatch_ends_it_and_drops_the_connection(tmp_path: Path) -> None:
    came, gone = asyncio.Event(), asyncio.Event()

    async def wait(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
        came.set()
        await reader.read()
        gone.set()

    async with raw(wait) as server, handler(tmp_path) as made:
        task = asyncio.create_task(made.dispatch(work({"url": server.url})))
        await came.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(gone.wait(), 60)
