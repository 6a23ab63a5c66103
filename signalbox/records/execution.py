"""The request to execute a process."""

import json
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import (
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from switchyard.submit.check import MOST_AFTER

Uri = Annotated[str, StringConstraints(pattern=r"^https?://", max_length=2000)]
Label = Annotated[str, StringConstraints(min_length=1, max_length=200)]


def _from_form(value: Any) -> Any:
    """A form sends its inputs as JSON text."""
    try:
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError):
        raise ValueError("is not valid JSON") from None


class _Asked(BaseModel):
    """Unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore", use_attribute_docstrings=True)


class Output(_Asked):
    """How an output is requested."""

    transmissionMode: Literal["value", "reference"] = "value"  # noqa: N815
    """By value or by reference."""


class Subscriber(_Asked):
    """The addresses to call when the job has ended."""

    successUri: Uri  # noqa: N815
    """Called when it succeeded."""
    failedUri: Uri | None = None  # noqa: N815
    """Called when it ended in any other way."""
    inProgressUri: Uri | None = None  # noqa: N815
    """Accepted and not called: progress is in the status and in the stream."""


class Options(_Asked):
    """Options of Switchyard beyond the standard."""

    priority: Annotated[int, Field(ge=-32768, le=32767)] = 100
    """The priority; smaller values go first."""
    lane: Label | None = None
    """Its lane."""
    tags: Annotated[list[Label], Field(max_length=20)] | None = None
    """Its tags."""
    correlation_id: Annotated[str, StringConstraints(min_length=1, max_length=500)] | None = None
    """The correlation id, which is part of every log line, message and webhook."""
    no_cache: bool = False
    """Compute it even if a result could be reused, and do not let others reuse this one."""
    start_after: AwareDatetime | None = None
    """The job does not start before this time."""
    after: Annotated[list[UUID], Field(max_length=MOST_AFTER)] | None = None
    """Jobs that must have ended before it starts."""
    after_policy: Literal["successful", "ended"] | None = None
    """Whether those must be successful (the default; otherwise this job is dismissed) or only ended."""
    callbacks: Annotated[list[dict[str, Any]], Field(max_length=100)] | None = None
    """Callbacks of this job alone, shaped like those of the configuration; only to actions that it allows."""

    @model_validator(mode="after")
    def _policy_of_what(self) -> Self:
        if self.after_policy is not None and not self.after:
            raise ValueError("after_policy is for jobs that wait: give after, too")
        return self


class Execute(_Asked):
    """The request to execute a process."""

    inputs: Annotated[dict[str, Any], BeforeValidator(_from_form)] = Field(default_factory=dict)
    """By name: a value, `{"value": …}`, or a link, which is passed to the workflow unchanged."""
    outputs: dict[str, Output] | None = None
    """The requested outputs; all by default."""
    response: Literal["raw", "document"] | None = None
    """How results are sent: raw (the default) is each output as it is, document all of them as JSON."""
    subscriber: Subscriber | None = None
    """The addresses to call when the job has ended."""
    switchyard: Options = Field(default_factory=Options)
    """Options of Switchyard beyond the standard."""
