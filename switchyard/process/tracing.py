"""One trace per correlation id: submit, claim, dispatch and outcome of its actions, in any process.

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
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from switchyard.process.otel import OtelTracing


Attribute = str | int | float | bool


Ids = tuple[UUID, str | None, UUID | None]  # action, correlation id, parent action


class Step:
    """What is happening, while it happens; this one is not traced."""

    def set(self, name: str, value: Attribute) -> None:
        """Add what has become known."""


_OFF: AbstractContextManager[Step] = nullcontext(Step())
_tracing: "OtelTracing | None" = None


def configure(program: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Turn tracing on where the environment asks for it; False where it stays off."""
    global _tracing  # noqa: PLW0603 - one per process, like the log
    exporter = environ.get("OTEL_TRACES_EXPORTER", "none")
    if exporter in ("", "none"):
        return False
    try:
        otel = importlib.import_module("switchyard.process.otel")
    except ImportError as error:
        from switchyard.process.log import get_logger  # noqa: PLC0415 - of an extra, like tracing itself

        log = get_logger(__name__)
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
    """Whether spans are exported, so that what `mark` takes is worth gathering."""
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
