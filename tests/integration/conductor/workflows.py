"""Works and contexts for the handlers that run workflows."""

import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from switchyard.config.config import Config
from switchyard.handlers import HandlerContext, Work
from switchyard.store import open_store


def uuid7() -> UUID:
    """A new version 7 uuid."""
    moment = int(time.time() * 1000)
    return UUID(int=moment << 80 | 7 << 76 | int.from_bytes(os.urandom(1)) << 64 | 2 << 62 | _random62())


def _random62() -> int:
    return int.from_bytes(os.urandom(8)) >> 2


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
