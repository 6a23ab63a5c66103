"""An argo source that is being listened to, and workflows of ours for it to see."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from switchyard.backends.argo.resource import API, workflows
from switchyard.backends.argo.source import ArgoSource, Place
from switchyard.backends.kubernetes.client import Cluster as Client
from switchyard.backends.kubernetes.credentials import Credentials
from switchyard.execution import (
    ACTION_LABEL,
    MANAGED_BY_LABEL,
    SHARD_LABEL,
    WHOLE,
    Shard,
    bucket_of,
    name_of,
)
from switchyard.sources import Observation
from switchyard.status import Status
from switchyard.store import Store, open_store
from tests.parts.kubernetes import Cluster
from tests.waiting import eventually


class Listener:
    """Collects what a source tells."""

    def __init__(self, source: ArgoSource) -> None:
        self.source = source
        self.heard: list[Observation] = []

    def of(self, uuid: UUID) -> list[Status | None]:
        """The statuses reported of one action, in order."""
        return [seen.status for seen in self.heard if seen.uuid == uuid]

    def last(self, uuid: UUID) -> Observation | None:
        """What was reported of it last."""
        return next((seen for seen in reversed(self.heard) if seen.uuid == uuid), None)

    async def until(self, uuid: UUID, status: Status | None, seconds: float = 60) -> Observation:
        """The observation of that status, as soon as it is reported."""
        found = await eventually(
            lambda: next((s for s in self.heard if (s.uuid, s.status) == (uuid, status)), None), seconds
        )
        assert found is not None
        return found

    async def run(self) -> None:
        """Listen until cancelled."""
        async for seen in self.source.observations():
            assert isinstance(seen, Observation)
            self.heard.append(seen)


@contextlib.asynccontextmanager
async def listening(source: ArgoSource) -> AsyncIterator[Listener]:
    """A listener at work; the source is closed at the end."""
    listener = Listener(source)
    await source.start()
    task = asyncio.create_task(listener.run())
    try:
        await asyncio.sleep(0)
        yield listener
        assert not task.done(), "the source must never stop telling by itself"
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        await source.close()


def source(kubeconfig: Path, namespace: str, store: Store, *, shard: Shard = WHOLE) -> ArgoSource:
    """A source of that namespace."""
    return ArgoSource(Client(Credentials(kubeconfig)), Place(namespace, shard), store)


def submit(cluster: Cluster, namespace: str, spec: dict[str, Any], *, run: int = 1) -> UUID:
    """A workflow as conductor would create it."""
    uuid = uuid4()
    labels = {
        MANAGED_BY_LABEL: "switchyard",
        ACTION_LABEL: str(uuid),
        SHARD_LABEL: str(bucket_of(uuid)),
    }
    metadata = {"name": name_of(uuid, run), "labels": labels}
    body = {"apiVersion": API, "kind": "Workflow", "metadata": metadata, "spec": spec}
    cluster.api.create(workflows(namespace), body)
    return uuid


def local_store(folder: Path) -> Store:
    """A store in a folder of the test's own."""
    return open_store(folder.as_uri())
