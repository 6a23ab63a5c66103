"""Works and contexts for the handlers that run workflows."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from switchyard.config.config import Config
from switchyard.handlers import HandlerContext, Work
from switchyard.store import open_store
from tests.uuids import uuid7


def context(folder: Path, actions: dict[str, Any], workflows: dict[str, Any]) -> HandlerContext:
    """What conductor gives its handlers."""
    config = Config.model_validate({"actions": actions, "workflows": workflows})
    return HandlerContext(config, open_store((folder / "store").as_uri()), {})


def work(workflow: str | None, parameters: dict[str, Any] | None = None, **more: Any) -> Work:
    """One dispatch."""
    values: dict[str, Any] = {
        "uuid": uuid7(),
        "run": 1,
        "attempt": 1,
        "last_attempt": False,
        "action_name": "run",
        "workflow": workflow,
        "callback": None,
        "parent_uuid": None,
        "parameters": parameters or {},
        "correlation_id": "c-1",
        "created_at": datetime.now(UTC),
    }
    return Work(**{**values, **more})
