"""One trace a correlation id: submit, claim, dispatch and outcome of its actions, whichever process did them.

No trace context has to be stored or passed on: the trace is named by the correlation id (by the action's uuid
where there is none) and the span of an action's submission by the action's uuid, so every process can hang
its steps in the right place by the ids that each row and message carries anyway.

Off, and free, unless `OTEL_TRACES_EXPORTER` names an exporter and the extra `otel` is installed; sampling and
the exporter take OpenTelemetry's own variables (`OTEL_TRACES_SAMPLER`, …).

    with span("dispatch", action_uuid=uuid, correlation_id=id, action=name) as step:
        step.set("outcome", "success")
    mark("claim", seconds=0.004, action_uuid=uuid, correlation_id=id)  # afterwards, for what went in a group
"""

import importlib
import os
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Protocol
from uuid import UUID

from switchyard.process.log import get_logger

Attribute = str | int | float | bool

log = get_logger(__name__)


class Step(Protocol):
    """What is happening, while it happens."""

    def set(self, name: str, value: Attribute) -> None:
        """Add what has become known."""

    def fail(self, error: str) -> None:
        """It did not work. An exception that escapes says so by itself."""


class Tracing(Protocol):
    """Where steps go."""

    def span(
        self, step: str, ids: "Ids", attributes: Mapping[str, Attribute]
    ) -> AbstractContextManager[Step]:
        """A step that takes as long as the block."""

    def mark(self, step: str, ids: "Ids", attributes: Mapping[str, Attribute], seconds: float) -> None:
        """A step that has just ended."""

    def headers(self) -> Mapping[str, str]:
        """What tells the other side of a request which step it belongs to."""

    def close(self) -> None:
        """Send what is left."""


Ids = tuple[UUID, str | None, UUID | None]  # action, correlation id, parent action


class _NoStep:
    def set(self, name: str, value: Attribute) -> None:
        """Nobody listens."""

    def fail(self, error: str) -> None:
        """Nobody listens."""


_OFF: AbstractContextManager[Step] = nullcontext(_NoStep())
_tracing: Tracing | None = None


def configure(program: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Turn tracing on where the environment asks for it; False where it stays off."""
    global _tracing  # noqa: PLW0603 - one a process, like the log
    exporter = environ.get("OTEL_TRACES_EXPORTER", "none")
    if exporter in ("", "none"):
        return False
    try:
        otel = importlib.import_module("switchyard.process.otel")
    except ImportError as error:
        log.warning("no tracing: install switchyard with the extra 'otel'", missing=error.name)
        return False
    _tracing = otel.open_tracing(program, exporter)
    return True


def close() -> None:
    """Send what is left, and turn tracing off."""
    global _tracing  # noqa: PLW0603 - see configure
    if _tracing is not None:
        _tracing.close()
        _tracing = None


@contextmanager
def traced(program: str) -> Iterator[None]:
    """Tracing for as long as a command takes; what is left is sent at its end."""
    configure(program)
    try:
        yield
    finally:
        close()


def enabled() -> bool:
    """Whether it is worth while to gather what `mark` wants to know."""
    return _tracing is not None


def span(
    step: str,
    *,
    action_uuid: UUID,
    correlation_id: str | None,
    parent_uuid: UUID | None = None,
    **attributes: Attribute,
) -> AbstractContextManager[Step]:
    """A step of one action that takes as long as the block."""
    if _tracing is None:
        return _OFF
    return _tracing.span(step, (action_uuid, correlation_id, parent_uuid), attributes)


def mark(
    step: str,
    *,
    seconds: float,
    action_uuid: UUID,
    correlation_id: str | None,
    parent_uuid: UUID | None = None,
    **attributes: Attribute,
) -> None:
    """A step of one action that ended just now and took so long."""
    if _tracing is not None:
        _tracing.mark(step, (action_uuid, correlation_id, parent_uuid), attributes, seconds)


def headers() -> Mapping[str, str]:
    """`traceparent` of the step under way, for a request to somebody else; empty where there is none."""
    return {} if _tracing is None else _tracing.headers()
