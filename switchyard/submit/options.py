"""The options of a submission, the same for every client."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from inspect import Parameter, signature
from typing import Any, TypedDict, TypeVar
from uuid import UUID

from switchyard.submit.submission import Submission

Method = TypeVar("Method", bound=Callable[..., Any])


class Options(TypedDict, total=False):
    """The arguments of `submit` that are given by name; see docs/python.md."""

    workflow: str | None
    """The workflow to run; its action name need not be given then."""
    idempotency_key: str | None
    """Reusing a key for the same action name returns the first action's id."""
    lane: str | None
    """Groups actions for limits and fair turns, like a customer or a host."""
    after: Sequence[UUID]
    """Actions that must have ended before it starts."""
    after_policy: str | None
    """`successful` (default): otherwise it is canceled; or `ended`."""
    start_after: datetime | None
    """Not before this time; it must have a time zone."""
    priority: int | None
    """A lower number runs first; among equals, the oldest."""
    tags: Sequence[str] | None
    """Words to find it by."""
    callbacks: Sequence[Mapping[str, Any]] | None
    """Callbacks of this action alone, shaped like those in the configuration."""
    correlation_id: str | None
    """Goes along into every log line, message and webhook."""
    parent_uuid: UUID | None
    """The parent action."""
    no_cache: bool | None
    """Compute it even if a result could be reused, and do not let others reuse this one."""


SEVERAL = ("after", "tags")  # empty by default, where the others are None


def submission(name: str | None, parameters: Mapping[str, Any], options: Options) -> Submission:
    """The submission of these arguments; TypeError where an option does not exist."""
    given = {key: value for key, value in options.items() if value is not None}
    return Submission(name, parameters, **given)  # type: ignore[arg-type]


def with_options(method: Method) -> Method:
    """The method with every option in its signature, which help() shows, instead of `**options`."""
    declared = signature(method)
    own = [each for each in declared.parameters.values() if each.kind is not Parameter.VAR_KEYWORD]
    options = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=() if name in SEVERAL else None, annotation=kind)
        for name, kind in Options.__annotations__.items()
    ]
    by_position = [each for each in own if each.kind is not Parameter.KEYWORD_ONLY]
    by_name = [each for each in own if each.kind is Parameter.KEYWORD_ONLY]
    shown = declared.replace(parameters=[*by_position, *options, *by_name])
    method.__signature__ = shown  # type: ignore[attr-defined]
    return method
