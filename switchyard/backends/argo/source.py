"""Argo as a source: Switchyard's workflows in one namespace, for one shard."""

from collections import OrderedDict
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from switchyard.backends.argo.informer import Change, Informer
from switchyard.backends.argo.logs import archived_log, is_own_log
from switchyard.backends.argo.observe import Handle, observe, phase_of
from switchyard.backends.argo.resource import MANAGER, identity, workflows
from switchyard.backends.kubernetes.answer import RefusedError
from switchyard.backends.kubernetes.client import MERGE_PATCH, Cluster
from switchyard.backends.set_aside import SetAside
from switchyard.backends.threads import Threads
from switchyard.errors import Transient
from switchyard.execution import MANAGED_BY_LABEL, SHARD_LABEL, WHOLE, Shard, name_of, parse_name
from switchyard.sources import Observation, Seen
from switchyard.store import Store

REMEMBERED = 20_000


@dataclass(frozen=True, slots=True)
class Place:
    """The namespace to observe and the selector to use."""

    namespace: str
    shard: Shard = WHOLE
    manager: str = MANAGER

    @property
    def selector(self) -> str:
        """The selector of Switchyard's workflows in this shard."""
        ours = f"{MANAGED_BY_LABEL}={self.manager}"
        if self.shard.count == 1:
            return ours
        return f"{ours},{SHARD_LABEL} in ({','.join(map(str, self.shard.buckets))})"


class ArgoSource:
    """Observes, stops and deletes Workflows. Nothing that is not ours is ever touched."""

    one_observer = True
    can_look = True

    def __init__(self, cluster: Cluster, place: Place, store: Store) -> None:
        self.name = f"argo/{place.namespace}"
        self._cluster = cluster
        self._place = place
        self._store = store
        self._path = workflows(place.namespace)
        self._informer = Informer(cluster, self._path, place.selector, phase_of)
        self._set_aside = SetAside(self.name)
        self._threads = Threads(4)
        self._forgotten: OrderedDict[str, None] = OrderedDict()  # by uid
        self._deleting: set[str] = set()  # by name

    async def start(self) -> None:
        """Read the credentials; raises ConfigError where there are none."""
        await self._cluster.start()

    async def observations(self) -> AsyncIterator[Seen]:
        """All existing workflows, then every change."""
        async for change in self._informer.changes():
            seen = self._seen(change)
            if seen is not None:
                yield seen

    def answers_for(self, uuid: UUID, _handed: Mapping[str, Any], /) -> bool:
        """Whether the workflow is in this shard."""
        return self._place.shard.owns(uuid)

    def present(self, uuid: UUID, run: int) -> bool | None:
        """Whether it exists, by the informer's names, once these are complete."""
        return name_of(uuid, run) in self._informer if self._informer.synced else None

    async def look(self, uuid: UUID, run: int) -> Observation | None:
        """Look it up by name, with a consistent read."""
        workflow = await self._get(name_of(uuid, run))
        try:
            return None if workflow is None else observe(workflow, self._place.manager)
        except Exception as error:
            raise Transient(f"the Workflow {name_of(uuid, run)} cannot be read: {error!r}") from error

    async def log(self, observation: Observation) -> bytes | None:
        """The archived log of the step that failed, where Argo keeps it in our bucket."""
        handle: Handle | None = observation.handle
        if handle is None or handle.log is None or not is_own_log(handle.log, handle.name, self._store.url):
            return None
        return await self._threads.run(archived_log, handle.log)

    async def stop_execution(self, uuid: UUID, run: int, reason: str) -> None:
        """Terminate it, unless it has ended, does not exist, or is not Switchyard's."""
        workflow = await self._get(name_of(uuid, run))
        if workflow is None or identity(workflow, self._place.manager) is None:
            return
        metadata = {"uid": workflow["metadata"]["uid"], "annotations": {"switchyard.dev/stopped": reason}}
        body = {"metadata": metadata, "spec": {"shutdown": "Terminate"}}
        await self._unless_gone("PATCH", f"{self._path}/{name_of(uuid, run)}", body)

    async def forget(self, observation: Observation) -> None:
        """Delete the very object that was observed, by its uid."""
        handle: Handle | None = observation.handle
        if handle is None:
            return
        options = {"preconditions": {"uid": handle.uid}, "propagationPolicy": "Background"}
        # Before the delete: the watch may report it before the answer arrives.
        self._deleting.add(handle.name)
        self._forgotten[handle.uid] = None
        try:
            await self._unless_gone("DELETE", f"{self._path}/{handle.name}", options)
        except BaseException:
            self._forgotten.pop(handle.uid, None)
            raise
        finally:
            self._deleting.discard(handle.name)
        self._informer.forget(handle.name)
        if len(self._forgotten) > REMEMBERED:
            self._forgotten.popitem(last=False)

    async def ready(self) -> bool:
        """Whether it has listed everything and the API server answers."""
        return self._informer.synced and self._informer.hearing

    async def close(self) -> None:
        """Close the connections."""
        await self._cluster.close()

    def _seen(self, change: Change) -> Seen | None:
        """Observe one Workflow; an error concerns only this Workflow."""
        try:
            seen = self._observation(change)
        except Exception as error:  # noqa: BLE001 - anybody may have written its status
            return self._set_aside.report(change.name, error, {"namespace": self._place.namespace})
        self._set_aside.recovered(change.name)
        return seen

    def _observation(self, change: Change) -> Observation | None:
        if change.item is None:
            named = None if change.name in self._deleting else parse_name(change.name)
            return None if named is None else Observation(*named, None)
        if change.item["metadata"]["uid"] in self._forgotten:
            return None
        return observe(change.item, self._place.manager)

    async def _get(self, name: str) -> dict[str, Any] | None:
        try:
            return await self._cluster.get(f"{self._path}/{name}")
        except RefusedError as error:
            if error.status == 404 and error.details.get("name") == name:
                return None
            raise Transient(str(error)) from error

    async def _unless_gone(self, method: str, path: str, body: dict[str, Any]) -> None:
        """Ignore 404 (it does not exist), and 409 or 422 (another Workflow has its name now)."""
        content_type = MERGE_PATCH if method == "PATCH" else "application/json"
        try:
            await self._cluster.request(method, path, None, body, content_type)
        except RefusedError as error:
            if error.status not in (404, 409, 422):
                raise Transient(str(error)) from error
