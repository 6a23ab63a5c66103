"""OpenTelemetry spans, where the `otel` extra is installed: one trace for all that shares a correlation id.

The trace id is made from the correlation id, so that submit, claim, dispatch and outcome meet in one trace
whichever process they happened in; without a correlation id the action's own uuid stands in for it.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

from conductor.handler import Work

try:
    from opentelemetry import trace
except ImportError:  # the extra is not installed
    trace = None  # type: ignore[assignment]  # the name stands for its absence


def trace_id(correlation: str) -> int:
    """A trace id that every program derives alike; never 0, which means none."""
    return int.from_bytes(hashlib.sha256(correlation.encode("utf-8", "replace")).digest()[:16]) or 1


@contextmanager
def span(name: str, work: Work) -> Iterator[None]:
    """A span about one action, in the trace of its correlation id."""
    if trace is None:
        yield
        return
    identity = trace_id(work.correlation_id or str(work.uuid))
    parent = trace.SpanContext(identity, identity & (2**64 - 1) or 1, True, trace.TraceFlags(1))
    context = trace.set_span_in_context(trace.NonRecordingSpan(parent))
    attributes: dict[str, str | int] = {
        "switchyard.action_uuid": str(work.uuid),
        "switchyard.action_name": work.action_name,
        "switchyard.run": work.run,
        "switchyard.attempt": work.attempt,
    }
    tracer = trace.get_tracer("switchyard.conductor")
    with tracer.start_as_current_span(name, context=context, attributes=attributes):
        yield
