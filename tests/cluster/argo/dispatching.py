"""An argo handler with a configuration, and works for it."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from switchyard.backends.argo.handler import ArgoHandler
from switchyard.backends.argo.model import ArgoAction
from switchyard.config.config import Config
from switchyard.handlers import HandlerContext, Work
from switchyard.store import open_store

SUSPEND = {"entrypoint": "main", "templates": [{"name": "main", "suspend": {}}]}


def context(folder: Path, kubeconfig: Path, namespace: str, **workflow: Any) -> HandlerContext:
    """A configuration with an argo action and a workflow `job`, which waits unless said otherwise."""
    config = Config.model_validate(
        {
            "store": folder.as_uri(),
            "actions": {"argo": {"type": "argo", "namespace": namespace, "kubeconfig": str(kubeconfig)}},
            "workflows": {"job": {"action": "argo", **(workflow or {"manifest": {"spec": SUSPEND}})}},
        }
    )
    return HandlerContext(config, open_store(config.store), {})


def handler(made: HandlerContext, **change: Any) -> ArgoHandler:
    """The handler of that action; `change` replaces fields of it."""
    action = made.config.actions["argo"]
    return ArgoHandler("argo", ArgoAction.model_validate({**action.model_dump(), **change}), made)


def work(*, run: int = 1, last: bool = False, uuid: UUID | None = None, **parameters: Any) -> Work:
    """A claimed submission of `job`."""
    return Work(
        uuid=uuid or uuid4(),
        run=run,
        attempt=1,
        last_attempt=last,
        action_name="argo",
        workflow="job",
        callback=None,
        parent_uuid=None,
        parameters=parameters,
        correlation_id="c-1",
        created_at=datetime.now(UTC),
    )
