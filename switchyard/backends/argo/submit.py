"""Creates a Workflow and classifies the result.

The name is the run's, so a create may be repeated. What is certain is decided at once; after a time-out, a
reset or a 5xx the create may have succeeded, so the name is looked up before an outcome is returned. If
that is still uncertain at the last attempt, the run is handed over, and caboose's reconcile finds out.
"""

from collections.abc import Mapping
from typing import Any

from switchyard.backends.argo.resource import identity, workflows
from switchyard.backends.kubernetes.answer import RefusedError
from switchyard.backends.kubernetes.client import Cluster
from switchyard.errors import ClusterUnreachable
from switchyard.handlers import Failed, HandedOver, Invalid, Outcome, Retry, Work

THERE, ABSENT, FOREIGN = "there", "absent", "foreign"


class WorkflowSubmission:
    """One attempt to get one run into the cluster."""

    def __init__(
        self,
        cluster: Cluster,
        namespace: str,
        work: Work,
        body: dict[str, Any],
        more: Mapping[str, Any] | None = None,
    ) -> None:
        """`more` goes into the detail of the hand-over."""
        self._cluster = cluster
        self._namespace = namespace
        self._path = workflows(namespace)
        self._work = work
        self._body = body
        self._more = more or {}
        self._name = str(body["metadata"]["name"])

    async def create(self) -> Outcome:
        """Create the Workflow and return the outcome."""
        try:
            await self._cluster.create(self._path, self._body)
        except ClusterUnreachable as error:
            return await self.in_doubt(str(error))
        except RefusedError as error:
            return await self.refused(error)
        return self._handed_over()

    async def in_doubt(
        self, error: str, delay: float | None = None, status: int | None = None, *, refused: bool = False
    ) -> Outcome:
        """Look the Workflow up by name before returning an outcome."""
        detail = {} if status is None else {"status": status}
        try:
            found = await self._look()
        except (ClusterUnreachable, RefusedError) as failure:
            if self._work.last_attempt:
                return self._handed_over(unconfirmed=f"{error}; then {failure}")
            return Retry(f"{error}; whether it is there is not known: {failure}", delay, detail=detail)
        return self._found(found) or Retry(error, delay, refused=refused, detail=detail)

    async def refused(self, error: RefusedError) -> Outcome:
        """The outcome of an error response; most are certain."""
        detail = {"status": error.status}
        if error.temporary or error.status == 409 or error.quota:
            return await self.in_doubt(str(error), error.retry_after, error.status, refused=error.quota)
        if error.status in (401, 403):
            if "being terminated" in error.message:
                return Failed(f'the namespace "{self._namespace}" is being deleted: {error.message}', detail)
            return Retry(str(error), sent=False, detail=detail)
        if error.status == 404:
            return Failed(self._missing(error), detail)
        if error.status in (400, 413, 415, 422):
            return Invalid(f"Kubernetes does not take the workflow: {error.message}", detail)
        return Failed(str(error), detail)

    async def namespace_missing(self) -> str | None:
        """Whether a missing template is really a missing namespace; found out by a dry run."""
        try:
            await self._cluster.create(self._path, self._body, {"dryRun": "All"})
        except RefusedError as error:
            return self._missing(error) if error.status == 404 else None
        except ClusterUnreachable:
            return None
        return None

    def _missing(self, error: RefusedError) -> str:
        if error.details.get("kind") == "namespaces":
            return f'there is no namespace "{self._namespace}"'
        return f"the cluster has no {error.missing}: {error.message}"

    async def _look(self) -> str:
        try:
            workflow = await self._cluster.get(f"{self._path}/{self._name}")
        except RefusedError as error:
            if error.status == 404:
                return ABSENT
            raise
        return THERE if identity(workflow) == (self._work.uuid, self._work.run) else FOREIGN

    def _found(self, found: str) -> Outcome | None:
        if found == THERE:
            return self._handed_over(found="already there")
        if found == FOREIGN:
            return Failed(f'a workflow "{self._name}" is in namespace "{self._namespace}", and is not ours')
        return None

    def _handed_over(self, **more: str) -> HandedOver:
        return HandedOver({"workflow": self._name, "namespace": self._namespace, **self._more, **more})
