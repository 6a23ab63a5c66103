"""What is asked for, checked before it is sent: the same for one action and for thousands."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from switchyard.config.config import Config
from switchyard.config.jsonb import jsonb
from switchyard.errors import BadInput


@dataclass(frozen=True, slots=True)
class Submission:
    """One action to be. A workflow's action name may be left out if a configuration or the ledger has it."""

    action_name: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    workflow: str | None = None
    priority: int = 100
    correlation_id: str | None = None
    idempotency_key: str | None = None
    start_after: datetime | None = None
    parent_uuid: UUID | None = None
    callbacks: Sequence[Mapping[str, Any]] | None = None

    def __post_init__(self) -> None:
        if not (self.action_name or self.workflow):
            raise BadInput("action_name: needed where there is no workflow")
        self._check_kinds()
        if not -32768 <= self.priority <= 32767:
            raise BadInput(f"priority: must be between -32768 and 32767, not {self.priority}")
        if self.start_after is not None and self.start_after.tzinfo is None:
            raise BadInput("start_after: must say its time zone")
        for name in ("action_name", "workflow", "correlation_id", "idempotency_key"):
            _check_text(name, getattr(self, name))

    def _check_kinds(self) -> None:
        """What came from a file of JSON can be anything."""
        if not isinstance(self.parameters, Mapping):
            raise BadInput("parameters: must be an object")
        if not isinstance(self.priority, int):
            raise BadInput(f"priority: must be a whole number, not {self.priority!r}")
        if self.callbacks is not None and (
            not isinstance(self.callbacks, list | tuple)
            or not all(isinstance(callback, Mapping) for callback in self.callbacks)
        ):
            raise BadInput("callbacks: must be a list of objects")

    def checked(self, config: Config | None) -> "Submission":
        """As the configuration has it, which knows a workflow's action name; BadInput with all its problems.

        Without one, or with one that serves nothing, it is left as it is.
        """
        if config is None or not config.actions:
            return self
        callbacks = None if self.callbacks is None else [dict(callback) for callback in self.callbacks]
        problems = config.check_submission(self.action_name, self.workflow, dict(self.parameters), callbacks)
        if problems:
            raise BadInput("\n".join(str(problem) for problem in problems))
        if self.action_name or not self.workflow:
            return self
        return replace(self, action_name=config.workflows[self.workflow].action)

    def parameters_json(self) -> str:
        """The parameters as Postgres takes them."""
        return jsonb(dict(self.parameters), "parameters")

    def callbacks_json(self) -> str | None:
        """The callbacks as Postgres takes them."""
        return None if self.callbacks is None else jsonb([dict(c) for c in self.callbacks], "callbacks")

    def request(self) -> dict[str, Any]:
        """The arguments of the SQL function `submit`, by name."""
        return {
            "action_name": self.action_name,
            "parameters": self.parameters_json(),
            "workflow": self.workflow,
            "priority": self.priority,
            "correlation_id": self.correlation_id,
            "idempotency_key": self.idempotency_key,
            "start_after": self.start_after,
            "parent_uuid": self.parent_uuid,
            "callbacks": self.callbacks_json(),
        }


def _check_text(field_name: str, value: str | None) -> None:
    if value is None:
        return
    if not isinstance(value, str):
        raise BadInput(f"{field_name}: must be a text")
    if value == "" or len(value) > 500:
        raise BadInput(f"{field_name}: must have 1 to 500 characters, not {len(value)}")
    if "\x00" in value:
        raise BadInput(f"{field_name}: holds a NUL character, which Postgres cannot store")
