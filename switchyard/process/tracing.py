"""One trace per correlation id: submit, claim, dispatch and outcome of its actions, in any process.

No trace context has to be stored or passed on: the trace id is derived from the correlation id (the
action's uuid if there is none) and the span id of a submission from the action's uuid, so every process can
place its spans correctly from the ids that rows and messages have anyway.

Off, at no cost, unless `OTEL_TRACES_EXPORTER` names an exporter and the extra `otel` is installed; sampling
and the exporter take OpenTelemetry's own variables (`OTEL_TRACES_SAMPLER`, …).

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
    """A step in progress; this class is used when tracing is off."""

    def set(self, name: str, value: Attribute) -> None:
        """Set an attribute of the span."""


_OFF: AbstractContextManager[Step] = nullcontext(Step())
_tracing: "OtelTracing | None" = None


def configure(program: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Turn tracing on if the environment enables it; False if it stays off."""
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
    """Trace during a command; the remaining spans are sent at its end."""
    configure(program)
    try:
        yield
    finally:
        close()


def enabled() -> bool:
    """Whether spans are exported, so that collecting data for `mark` is useful."""
    return _tracing is not None


def span(
    step: str,
    *,
    action_uuid: UUID,
    correlation_id: str | None,
    parent_uuid: UUID | None = None,
    **attributes: Attribute,
) -> AbstractContextManager[Step]:
    """A span of one action that lasts as long as the block."""
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
    """A span of one action that ends now and took this many seconds."""
    if _tracing is not None:
        _tracing.mark(step, (action_uuid, correlation_id, parent_uuid), attributes, seconds)


def headers() -> Mapping[str, str]:
    """The `traceparent` header of the current span for outgoing requests; empty without one."""
    return {} if _tracing is None else _tracing.headers()
