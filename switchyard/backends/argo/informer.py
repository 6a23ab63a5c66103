"""List and watch: all existing objects, then every change.

The model. A list is read in pages of one snapshot and ends with a resourceVersion; a watch from it delivers
every later change; bookmarks advance the version while nothing changes, so that a new watch can start late.
Stored in memory: the phase of every name, nothing else. The consumer pulls, so a slow one holds at most two
pages.
What each failure does. The watch ends or is cut: watch again from the last version. 410, the version or the
page is compacted away: list again. Anything else: list or watch again after a pause that grows. A relist
reports what was deleted meanwhile, and reports everything that exists again, so that a consumer that failed
on an object before receives it again.
"""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

from switchyard.backends.kubernetes.answer import RefusedError
from switchyard.backends.kubernetes.client import WATCH_SILENCE, Cluster
from switchyard.backoff import Backoff
from switchyard.errors import ClusterUnreachable
from switchyard.process.log import get_logger

PAGE = 200
RESYNC = 300.0
PAUSES = Backoff(base=0.1, longest=10.0)

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Change:
    """An object that is there, or (None) one that is gone."""

    name: str
    item: dict[str, Any] | None


class Informer:
    """Follows one collection under one label selector."""

    def __init__(
        self,
        cluster: Cluster,
        path: str,
        selector: str,
        phase: Callable[[dict[str, Any]], str | None],
        *,
        page: int = PAGE,
        resync: float = RESYNC,
    ) -> None:
        self._cluster = cluster
        self._path = path
        self._selector = selector
        self._phase = phase
        self._page_size = page
        self._resync = resync
        self._phases: dict[str, str | None] = {}
        self._version = ""
        self._heard = 0.0
        self._failures = 0
        self.synced = False

    def __contains__(self, name: str) -> bool:
        return name in self._phases

    def __len__(self) -> int:
        return len(self._phases)

    @property
    def hearing(self) -> bool:
        """Whether the API server has answered recently."""
        return time.monotonic() - self._heard < 2 * WATCH_SILENCE

    def forget(self, name: str) -> None:
        """Expect the DELETED event of an object that we delete."""
        self._phases.pop(name, None)

    async def changes(self) -> AsyncGenerator[Change]:
        """All objects, then every change; close the iterator to stop."""
        while True:
            try:
                async for change in self._list():
                    yield change
                async for change in self._follow(time.monotonic() + self._resync):
                    yield change
            except RefusedError as error:
                if not error.gone:
                    await self._rest(error)
                log.info("listing again", path=self._path, reason=error.message)
            except ClusterUnreachable as error:
                await self._rest(error)

    async def _list(self) -> AsyncIterator[Change]:
        """One snapshot, page by page, the next page fetched while this one is worked on."""
        there: set[str] = set()
        upcoming: asyncio.Task[dict[str, Any]] | None = asyncio.create_task(self._page(""))
        try:
            while upcoming is not None:
                page = await upcoming
                token = page["metadata"].get("continue") or ""
                upcoming = asyncio.create_task(self._page(token)) if token else None
                self._version = page["metadata"]["resourceVersion"]
                for item in page["items"]:
                    name = self._keep(item)
                    there.add(name)
                    yield Change(name, item)
        finally:
            if upcoming is not None:
                upcoming.cancel()
                await asyncio.gather(upcoming, return_exceptions=True)
        for name in self._phases.keys() - there:
            del self._phases[name]
            yield Change(name, None)
        self.synced = True

    async def _page(self, token: str) -> dict[str, Any]:
        query: dict[str, str | int] = {"labelSelector": self._selector, "limit": self._page_size}
        if token:
            query["continue"] = token
        page = await self._cluster.get(self._path, query)
        self._alive()
        return page

    async def _follow(self, deadline: float) -> AsyncIterator[Change]:
        """Watch after watch, until it is time to list again."""
        while (left := deadline - time.monotonic()) > 0:
            try:
                async for change in self._watch(min(left, random.uniform(240, 300))):  # noqa: S311 - spreads load
                    yield change
            except ClusterUnreachable as error:
                await self._rest(error)

    async def _watch(self, seconds: float) -> AsyncIterator[Change]:
        query: dict[str, str | int] = {
            "labelSelector": self._selector,
            "resourceVersion": self._version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": max(1, int(seconds)),
        }
        async for event in self._cluster.watch(self._path, query):
            change = self._read(event)
            if change is not None:
                yield change

    def _read(self, event: dict[str, Any]) -> Change | None:
        kind, item = event["type"], event["object"]
        if kind == "ERROR":
            raise RefusedError.from_status(item)
        self._alive()
        self._version = item["metadata"]["resourceVersion"]
        if kind == "BOOKMARK":
            return None
        name = item["metadata"]["name"]
        if kind == "DELETED":
            return Change(name, None) if self._phases.pop(name, self) is not self else None
        known = name in self._phases
        before = self._phases.get(name)
        self._keep(item)
        return None if known and before == self._phases[name] else Change(name, item)

    def _keep(self, item: dict[str, Any]) -> str:
        name = str(item["metadata"]["name"])
        self._phases[name] = self._phase(item)
        return name

    def _alive(self) -> None:
        self._heard = time.monotonic()
        self._failures = 0

    async def _rest(self, error: Exception) -> None:
        self._failures += 1
        pause = PAUSES.pause(self._failures)
        log.warning("no answer from Kubernetes", path=self._path, error=str(error), pause=round(pause, 3))
        await asyncio.sleep(pause)
