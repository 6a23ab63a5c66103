"""A Kubernetes Lease: of several cabooses of one shard, one works and the others stand by.

The model. The Lease names its holder and when it was renewed; every write carries the resourceVersion it
was read at, so of two that write, one fails. A candidate trusts its own clock alone: it takes over when it
has seen the same version for the whole duration. The holder stops acting a little earlier than that, by its
own clock, which goes on while the process is stopped: what wakes up late finds the lease gone.
The window of trust. From the question whether it is held to the system call that follows. None is needed:
every step of completion is idempotent and guarded by the ledger's locks; two holders for a moment do no harm.
What each failure does. The holder dies: taken over after `duration`. It stops in good order: released,
taken over at the next look. The API server is away: nobody can take over, the holder pauses, and goes on
when it is back.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from datetime import UTC, datetime
from typing import Any, TypeVar

from switchyard.backends.kubernetes.answer import RefusedError
from switchyard.backends.kubernetes.client import Cluster
from switchyard.errors import ClusterUnreachable
from switchyard.process.log import get_logger

DURATION = 8.0
EVERY = 2.0

T = TypeVar("T")
log = get_logger(__name__)


class Lease:
    """One candidate for one Lease."""

    def __init__(
        self, cluster: Cluster, namespace: str, name: str, identity: str, *, duration: float = DURATION
    ) -> None:
        self._cluster = cluster
        self._collection = f"/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases"
        self._name = name
        self._identity = identity
        self._duration = duration
        self._every = min(EVERY, duration / 5)
        self._renewed = float("-inf")
        self._seen: tuple[str, float] = ("", 0.0)
        self._term = 0

    @property
    def held(self) -> bool:
        """Ours, and surely not yet taken over by another."""
        return time.monotonic() < self._renewed + self._duration - self._every

    async def tick(self) -> bool:
        """Take or renew it, if that can be; whether it is held."""
        before = self.held
        try:
            await self._take_or_renew()
        except (RefusedError, ClusterUnreachable) as error:
            log.warning("the lease could not be renewed", lease=self._name, error=str(error))
        if self.held != before:
            log.info("lease taken" if self.held else "lease lost", lease=self._name, holder=self._identity)
        return self.held

    async def release(self) -> None:
        """Name no holder, so that the next look of a standby takes it."""
        if not self.held:
            return
        self._renewed = float("-inf")
        with contextlib.suppress(RefusedError, ClusterUnreachable):
            lease = await self._cluster.get(f"{self._collection}/{self._name}")
            if lease["spec"].get("holderIdentity") == self._identity:
                lease["spec"]["holderIdentity"] = ""
                await self._cluster.replace(f"{self._collection}/{self._name}", lease)

    async def while_held(self, stream: Callable[[], AsyncGenerator[T]]) -> AsyncGenerator[T]:
        """What the stream gives while the lease is held; a new stream after each time it was lost."""
        while True:
            await self._take()
            keeper = asyncio.create_task(self._keep())
            try:
                async with contextlib.aclosing(stream()) as source:
                    async for item in _until(keeper, source):
                        yield item
            finally:
                await _cancel(keeper)

    async def _take(self) -> None:
        """Stand by until it is ours."""
        held = await self.tick()
        while not held:
            await asyncio.sleep(self._every)
            held = await self.tick()

    async def _keep(self) -> None:
        """Renew until it is lost, if only for a moment: what was dropped meanwhile has to be told again."""
        term = self._term
        while self.held and self._term == term:
            await asyncio.sleep(self._every)
            await self.tick()

    async def _take_or_renew(self) -> None:
        asked = time.monotonic()
        try:
            lease = await self._cluster.get(f"{self._collection}/{self._name}")
        except RefusedError as error:
            if error.status != 404 or error.details.get("name") != self._name:
                raise
            await self._cluster.create(self._collection, self._ours({"metadata": {"name": self._name}}))
        else:
            if not self._free(lease):
                return
            await self._cluster.replace(f"{self._collection}/{self._name}", self._ours(lease))
        self._term += not self.held
        self._renewed = asked  # the time before the write: never later than what another saw

    def _free(self, lease: dict[str, Any]) -> bool:
        """Ours, nobody's, or unchanged for the whole duration by our own clock."""
        holder = (lease.get("spec") or {}).get("holderIdentity") or ""
        version = lease["metadata"]["resourceVersion"]
        if version != self._seen[0]:
            self._seen = (version, time.monotonic())
        return holder in ("", self._identity) or time.monotonic() - self._seen[1] >= self._duration

    def _ours(self, lease: dict[str, Any]) -> dict[str, Any]:
        """The same object, with us as the holder from now on."""
        spec = lease.get("spec") or {}
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        taken = spec.get("holderIdentity") != self._identity
        return {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": lease["metadata"],
            "spec": {
                "holderIdentity": self._identity,
                "leaseDurationSeconds": max(1, int(self._duration)),
                "acquireTime": now if taken else spec.get("acquireTime", now),
                "renewTime": now,
                "leaseTransitions": (spec.get("leaseTransitions") or 0) + taken,
            },
        }


async def _until(end: asyncio.Task[None], source: AsyncIterator[T]) -> AsyncIterator[T]:
    """What the source gives until the task is done, which may be in the middle of its wait."""
    while True:
        item = asyncio.ensure_future(anext(source))
        try:
            await asyncio.wait({item, end}, return_when=asyncio.FIRST_COMPLETED)
            if not item.done():
                return
            yield item.result()
        finally:
            await _cancel(item)


async def _cancel(task: asyncio.Future[Any]) -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
