"""Dispatches a wake-up.

A node is changed only if it still waits, by a patch that carries the version it was read at. A second
delivery finds it awake, in the archive if the workflow has ended and was deleted meanwhile; that is success
too. A workflow that is not ours is not touched.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from switchyard.backends.argo.model import ArgoResumeAction
from switchyard.backends.argo.nodes import NodesError
from switchyard.backends.argo.resource import identity, workflows
from switchyard.backends.argo.resume.wake import Selector, awake, suspended, waking
from switchyard.backends.argo.resuming import LARGEST
from switchyard.backends.http.template import Template, TemplateFaultError
from switchyard.backends.kubernetes.answer import RefusedError
from switchyard.backends.kubernetes.client import Cluster
from switchyard.backends.kubernetes.credentials import Credentials
from switchyard.backends.threads import Threads
from switchyard.errors import ClusterUnreachable, StoreError, StoreMissing, StoreTooLarge
from switchyard.execution import parse_name
from switchyard.handlers import Failed, HandlerContext, Invalid, Outcome, Retry, Success, Work
from switchyard.places import Places

CONFLICTS = 5
_ENDED = ("Succeeded", "Failed", "Error")


@dataclass(frozen=True, slots=True)
class Call:
    """The node to wake, and its outputs."""

    workflow: str
    archive: str
    selector: Selector
    outputs: Mapping[str, str]
    message: str


class ArgoResumeHandler:
    """Succeeds the suspended node that the action names."""

    def __init__(self, name: str, action: ArgoResumeAction, context: HandlerContext) -> None:
        self.name = name
        self._context = context
        self._path = workflows(action.namespace)
        self._threads = Threads(min(action.concurrency, 32))
        self._texts = {
            part: Template(getattr(action, part), f"actions.{name}.{part}")
            for part in ("workflow", "node", "message", "outputs")
        }
        self._cluster = Cluster(
            Credentials(action.kubeconfig, action.context), timeout=max(1.0, action.timeout / 4)
        )

    async def start(self) -> None:
        """Read the credentials; raises ConfigError where there are none."""
        await self._cluster.start()

    async def dispatch(self, work: Work, /) -> Outcome:
        """Read the Workflow and patch it; if it was changed meanwhile, read it again."""
        try:
            call = self._call(work)
        except (TemplateFaultError, ValueError) as error:
            return Invalid(str(error))
        try:
            for _ in range(CONFLICTS):
                outcome = await self._once(call)
                if outcome is not None:
                    return outcome
        except ClusterUnreachable as error:
            return Retry(str(error))
        except RefusedError as error:
            return await self._missing(call, error) if error.status == 404 else _refused(error)
        return Retry(f'the workflow "{call.workflow}" changed repeatedly', sent=False)

    async def close(self) -> None:
        """Close the connections."""
        await self._cluster.close()

    def _call(self, work: Work) -> Call:
        names = {"parameters": dict(work.parameters), "action": _action(work), "secrets": {}}
        rendered = {part: text.render(names) for part, text in self._texts.items()}
        given = work.parameters.get("outputs") or {}
        if not isinstance(given, Mapping):
            raise ValueError("parameters.outputs is not a mapping of names to values")  # noqa: TRY004 - one kind
        outputs = {str(key): _text(value) for key, value in {**given, **rendered["outputs"]}.items()}
        name = str(rendered["workflow"])
        execution = parse_name(name)
        if execution is None:
            raise ValueError(f"{rendered['workflow']!r} is not the name of a Switchyard workflow")
        selector = Selector(str(rendered["node"]))
        return Call(name, Places(*execution).workflow, selector, outputs, _text(rendered["message"]))

    async def _once(self, call: Call) -> Outcome | None:
        """One try; None if the Workflow changed between read and patch."""
        workflow = await self._cluster.get(f"{self._path}/{call.workflow}")
        if identity(workflow) is None:
            return Failed(f'the workflow "{call.workflow}" is not ours')
        try:
            keys = suspended(workflow, call.selector)
            if not keys:
                return _no_node_waits(workflow, call)
            patch = waking(workflow, keys, call.outputs, call.message)
        except NodesError as error:
            return Failed(f'the workflow "{call.workflow}" cannot be resumed: {error}')
        except ValueError as error:
            return Invalid(str(error))
        try:
            await self._cluster.patch(f"{self._path}/{call.workflow}", patch)
        except RefusedError as error:
            if error.status == 409:
                return None
            raise
        return Success({"workflow": call.workflow, "nodes": keys})

    async def _missing(self, call: Call, error: RefusedError) -> Outcome:
        """A workflow that was deleted may have ended because an earlier delivery woke its node."""
        try:
            woken = await self._woken_before(call)
        except StoreError as unread:
            return Retry(f"the archive of the workflow cannot be read: {unread}", sent=False)
        if woken:
            return Success({"workflow": call.workflow, "found": "awake already, in its archive"})
        return Failed(f"there is nothing to wake: {error.message}", {"status": error.status})

    async def _woken_before(self, call: Call) -> bool:
        """Whether the archive shows it; one that is missing or makes no sense shows nothing."""
        try:
            content = await self._threads.run(self._context.store.get, call.archive, limit=LARGEST)
            return awake(json.loads(content), call.selector)
        except (
            StoreMissing,
            StoreTooLarge,
            NodesError,
            ValueError,
            TypeError,
            AttributeError,
            RecursionError,
        ):
            return False


def _no_node_waits(workflow: Mapping[str, Any], call: Call) -> Outcome:
    if awake(workflow, call.selector):
        return Success({"workflow": call.workflow, "found": "awake already"})
    if ((workflow.get("status") or {}).get("phase")) in _ENDED:
        return Failed(f'the workflow "{call.workflow}" ended before its node was woken')
    return Retry(f'no such node of the workflow "{call.workflow}" waits yet', sent=False)


def _refused(error: RefusedError) -> Outcome:
    detail = {"status": error.status}
    if error.temporary or error.status in (401, 403):
        return Retry(str(error), error.retry_after, detail=detail)
    return Failed(str(error), detail)


def _action(work: Work) -> dict[str, Any]:
    return {
        "uuid": str(work.uuid),
        "run": work.run,
        "attempt": work.attempt,
        "name": work.action_name,
        "workflow": work.workflow,
        "callback": work.callback,
        "parent_uuid": None if work.parent_uuid is None else str(work.parent_uuid),
        "correlation_id": work.correlation_id,
        "created_at": work.created_at.isoformat(),
    }


def _text(value: Any) -> str:
    """Argo's parameters are strings; other values are sent as JSON."""
    return value if isinstance(value, str) else json.dumps(value)
