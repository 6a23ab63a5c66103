"""Reads each watched page repeatedly, as long as it has watchers.

A page that several callers with the same rights watch is one topic: it is read once per round, its changed
regions are encoded once, and all watchers are sent the same bytes. A watcher that reads slowly skips rounds
and is then sent the current state of all regions. Without watchers there is no task and no query.

A few topics are read concurrently, in turns. After a slow read a topic pauses for as long; others are not
delayed.
"""

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field

from signalbox.access.roles import Caller, Role
from switchyard.errors import SwitchyardError
from switchyard.process.log import get_logger

MOST = 5000
AT_ONCE = 3
BEAT = 15.0
LIFETIME = 600.0  # after this the browser reconnects, and its credentials are checked again

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Page:
    """A watched page, and the rights it is read with; only a submitter's page depends on the name."""

    path: str
    query: str
    caller: Caller

    @property
    def key(self) -> tuple[str, str, Role, str]:
        """Equal for pages that look the same."""
        name = self.caller.name if self.caller.role is Role.SUBMITTER else ""
        return self.path, self.query, self.caller.role, name


Regions = dict[str, str]
Read = Callable[[Page], Awaitable[Regions]]


@dataclass(slots=True)
class Topic:
    """A page with watchers."""

    page: Page
    watchers: int = 0
    version: int = 0
    regions: Regions = field(default_factory=dict)
    newest: bytes = b""
    whole: bytes | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    reading: asyncio.Task[None] | None = None

    def publish(self, regions: Regions) -> None:
        """Wake the watchers if something changed."""
        different = {name: html for name, html in regions.items() if self.regions.get(name) != html}
        if different or not self.version:
            self.regions, self.whole = regions, None
            self.newest = frame(different)
            self.version += 1
        self.wake()

    def wake(self) -> None:
        """Wake every watcher."""
        self.changed.set()
        self.changed = asyncio.Event()

    def since(self, version: int) -> bytes:
        """The changes that a watcher has missed: the newest ones, or all regions if it missed more."""
        if version == self.version - 1:
            return self.newest
        if self.whole is None:
            self.whole = frame(self.regions)
        return self.whole


class Live:
    """All watched pages of a process."""

    def __init__(self, every: float, connections: int = 10) -> None:
        self._every = every
        self._topics: dict[tuple[str, str, Role, str], Topic] = {}
        self._turns = asyncio.Semaphore(max(1, min(AT_ONCE, connections // 2)))
        self._closed = False
        self.read: Read | None = None
        self.watchers = 0

    @property
    def closed(self) -> bool:
        """Whether the process stops, or has loaded a new configuration."""
        return self._closed

    @property
    def full(self) -> bool:
        """Whether the process has reached its limit of watchers."""
        return self.watchers >= MOST or self._closed

    async def watch(self, page: Page) -> AsyncGenerator[bytes, None]:
        """Frames, until the process stops or the stream has lived long enough."""
        topic = self._topics.setdefault(page.key, Topic(page))
        topic.watchers += 1
        self.watchers += 1
        if topic.reading is None:
            topic.reading = asyncio.create_task(self._poll(topic))
        try:
            async for each in self._frames(topic):
                yield each
        finally:
            topic.watchers -= 1
            self.watchers -= 1
            if not topic.watchers:
                self._topics.pop(page.key, None)

    async def _frames(self, topic: Topic) -> AsyncIterator[bytes]:
        loop = asyncio.get_running_loop()
        version, ends = 0, loop.time() + LIFETIME
        yield b"retry: 2000\n\n"
        while not self._closed and loop.time() < ends:
            if topic.version > version:
                missed = topic.since(version)
                version = topic.version
                yield missed
                continue
            try:
                async with asyncio.timeout(BEAT):
                    await topic.changed.wait()
            except TimeoutError:
                yield b": \n\n"

    async def _poll(self, topic: Topic) -> None:
        while topic.watchers and not self._closed:
            async with self._turns:
                began = time.monotonic()
                await self._refresh(topic)
                took = time.monotonic() - began
            await asyncio.sleep(max(self._every, took))

    async def _refresh(self, topic: Topic) -> None:
        assert self.read is not None
        try:
            topic.publish(await self.read(topic.page))
        except SwitchyardError as error:
            log.warning("a watched page cannot be read now", path=topic.page.path, error=str(error))
        except Exception as error:  # an error of one page must not stop the updates of others
            log.exception("a watched page failed", path=topic.page.path, error=type(error).__name__)

    def close(self) -> None:
        """End all streams."""
        self._closed = True
        for topic in self._topics.values():
            topic.wake()


def frame(regions: Regions) -> bytes:
    """A server-sent event."""
    return b"event: regions\ndata: " + json.dumps(regions).encode() + b"\n\n"
