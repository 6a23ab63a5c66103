"""Dispatches a run to Argo."""

import time

from switchyard.backends.argo.manifest import manifest, template_of
from switchyard.backends.argo.model import ArgoAction
from switchyard.backends.argo.resource import cluster_templates, templates
from switchyard.backends.argo.resuming import resume
from switchyard.backends.argo.submit import WorkflowSubmission
from switchyard.backends.kubernetes.answer import RefusedError
from switchyard.backends.kubernetes.client import Cluster
from switchyard.backends.kubernetes.credentials import Credentials
from switchyard.backends.prepare import PreparedWorkflow, prepare
from switchyard.backends.threads import Threads
from switchyard.errors import ClusterUnreachable, StoreError
from switchyard.handlers import Failed, HandlerContext, Invalid, Outcome, Retry, Work

TRUSTED = 30.0


class Templates:
    """Looks a template up at most every TRUSTED seconds."""

    def __init__(self, cluster: Cluster, namespace: str, *, cluster_scope: bool) -> None:
        self._cluster = cluster
        self._path = cluster_templates() if cluster_scope else templates(namespace)
        self._kind = "ClusterWorkflowTemplate" if cluster_scope else "WorkflowTemplate"
        self._namespace = namespace
        self._seen: dict[str, float] = {}

    async def missing(self, name: str) -> str | None:
        """A sentence if the template is missing; None if it exists."""
        if time.monotonic() - self._seen.get(name, float("-inf")) < TRUSTED:
            return None
        try:
            await self._cluster.get(f"{self._path}/{name}")
        except RefusedError as error:
            if error.status != 404 or error.details.get("name") != name:
                raise
            return f'there is no {self._kind} "{name}" (namespace "{self._namespace}")'
        self._seen[name] = time.monotonic()
        return None


class ArgoHandler:
    """Creates Workflows, from a WorkflowTemplate or in place."""

    def __init__(self, name: str, action: ArgoAction, context: HandlerContext) -> None:
        self.name = name
        self._action = action
        self._context = context
        self._threads = Threads(min(action.concurrency, 32))
        credentials = Credentials(action.kubeconfig, action.context)
        # A share of the dispatch's time each, so that a look can follow a create that timed out.
        self._cluster = Cluster(credentials, timeout=max(1.0, action.timeout / 4))
        self._templates = Templates(self._cluster, action.namespace, cluster_scope=action.cluster_scope)

    async def start(self) -> None:
        """Read the credentials; raises ConfigError where there are none."""
        await self._cluster.start()

    async def dispatch(self, work: Work, /) -> Outcome:
        """Write the input, check that the template exists, create the Workflow."""
        prepared = await prepare(work, self._context, self._threads)
        if not isinstance(prepared, PreparedWorkflow):
            return prepared
        try:
            body = manifest(work, prepared, self._action)
            template = template_of(prepared, self._action)
        except ValueError as error:
            return Invalid(str(error))
        resumed = None
        if work.resumes:
            try:
                body, resumed = await self._threads.run(resume, self._context.store, prepared.places, body)
            except StoreError as error:
                return Retry(f"the run before cannot be read: {error}", sent=False)
        submission = WorkflowSubmission(self._cluster, self._action.namespace, work, body, resumed)
        return await self._without_template(submission, template) or await submission.create()

    async def _without_template(self, submission: WorkflowSubmission, template: str | None) -> Outcome | None:
        """An outcome where the template is missing, or where that cannot be found out."""
        if template is None:
            return None
        try:
            missing = await self._templates.missing(template)
        except ClusterUnreachable as error:
            return await submission.in_doubt(str(error))
        except RefusedError as error:
            return await submission.refused(error)
        if missing is None:
            return None
        return Failed(await submission.namespace_missing() or missing, {"status": 404})

    async def close(self) -> None:
        """Close the connections."""
        await self._cluster.close()
