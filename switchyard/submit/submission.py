"""A submission as given by the caller, and as a checked request."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Submission:
    """One action to create; a workflow's action name is optional where the configuration has it."""

    action_name: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    workflow: str | None = None
    priority: int = 100
    correlation_id: str | None = None
    idempotency_key: str | None = None
    start_after: datetime | None = None
    parent_uuid: UUID | None = None
    callbacks: Sequence[Mapping[str, Any]] | None = None
    lane: str | None = None
    tags: Sequence[str] = ()
    after: Sequence[UUID] = ()
    after_policy: str | None = None
    no_cache: bool | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """A submission that passed every check, with its JSON as text."""

    submission: Submission
    parameters: str
    callbacks: str | None

    def arguments(self) -> dict[str, Any]:
        """The arguments of the SQL function `submit`, by name."""
        return {**_fields(self.submission), "parameters": self.parameters, "callbacks": self.callbacks}

    def document(self) -> dict[str, Any]:
        """The same as one object of the JSON list that `submit_many` takes."""
        start, parent = self.submission.start_after, self.submission.parent_uuid
        return {
            **_fields(self.submission),
            "start_after": start and start.isoformat(),
            "parent_uuid": parent and str(parent),
            "after": [str(uuid) for uuid in self.submission.after],
        }


def _fields(submission: Submission) -> dict[str, Any]:
    fields = {name: getattr(submission, name) for name in Submission.__dataclass_fields__}
    return {**fields, "tags": list(submission.tags), "after": list(submission.after)}
