"""Tracing with OpenTelemetry; imported only when enabled, see tracing.py."""

import hashlib
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.metadata import entry_points
from uuid import UUID

from opentelemetry import context, propagate, trace
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.id_generator import RandomIdGenerator
from opentelemetry.sdk.trace.sampling import Decision
from opentelemetry.trace import (
    NonRecordingSpan,
    Span,
    SpanContext,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from switchyard import __version__
from switchyard.errors import ConfigError
from switchyard.process.redact import redact
from switchyard.process.tracing import Attribute, Ids, Step

SUBMIT = "submit"
_HEX = re.compile(r"[0-9a-f]{32}")
_LOW = (1 << 64) - 1
# The ids that the next span has to have, (trace, span); None: by chance.
_wanted: ContextVar[tuple[int, int] | None] = ContextVar("wanted", default=None)


def trace_id(action: UUID, correlation_id: str | None) -> int:
    """A correlation id that is a uuid or a trace id already stays itself; any other is hashed."""
    text = str(action) if correlation_id is None else correlation_id
    plain = text.lower().replace("-", "")
    if _HEX.fullmatch(plain) and int(plain, 16):
        return int(plain, 16)
    return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:16]) or 1


def span_id(action: UUID) -> int:
    """The submission's span: the part of the uuid that is random."""
    return action.int & _LOW or 1


class _Ids(RandomIdGenerator):
    """Random, except where the ids are known."""

    def generate_trace_id(self) -> int:
        wanted = _wanted.get()
        return super().generate_trace_id() if wanted is None else wanted[0]

    def generate_span_id(self) -> int:
        wanted = _wanted.get()
        return super().generate_span_id() if wanted is None else wanted[1]


class OtelStep(Step):
    """A span of ours; what is set on it has its secrets masked."""

    def __init__(self, span: Span) -> None:
        self._span = span

    def set(self, name: str, value: Attribute) -> None:
        self._span.set_attribute(f"switchyard.{name}", redact(value) if isinstance(value, str) else value)


class OtelTracing:
    """Makes the spans of one process and exports them in the background."""

    def __init__(self, program: str, exporter: SpanExporter) -> None:
        service = {"service.name": f"switchyard-{program}", "service.version": __version__}
        self._provider = TracerProvider(resource=Resource.create(service), id_generator=_Ids())
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("switchyard", __version__)

    @contextmanager
    def span(self, step: str, ids: Ids, attributes: Mapping[str, Attribute]) -> Iterator[Step]:
        """A step that takes as long as the block."""
        span = self._start(step, ids, attributes)
        token = context.attach(set_span_in_context(span))
        try:
            yield OtelStep(span)
        except BaseException as error:
            # Its kind alone: the text may quote anything, and the event in the ledger has it.
            span.set_status(Status(StatusCode.ERROR, type(error).__name__))
            raise
        finally:
            context.detach(token)
            span.end()

    def mark(self, step: str, ids: Ids, attributes: Mapping[str, Attribute], seconds: float) -> None:
        """A step that has just ended."""
        now = time.time_ns()
        self._start(step, ids, attributes, now - int(seconds * 1e9)).end(now)

    def headers(self) -> Mapping[str, str]:
        """The headers that link the other side's spans to ours."""
        carrier: dict[str, str] = {}
        propagate.inject(carrier)
        return carrier

    def close(self) -> None:
        """Send what is left."""
        self._provider.shutdown()

    def _start(
        self, step: str, ids: Ids, attributes: Mapping[str, Attribute], started: int | None = None
    ) -> Span:
        action, correlation_id, parent = ids
        named = trace_id(action, correlation_id)
        above = parent if step == SUBMIT else action
        around = context.Context() if above is None else self._below(named, span_id(above), step)
        token = _wanted.set((named, span_id(action)) if step == SUBMIT else None)
        try:
            span = self._tracer.start_span(step, context=around, start_time=started)
        finally:
            _wanted.reset(token)
        shown = OtelStep(span)
        for name, value in {"action_uuid": str(action), **attributes}.items():
            shown.set(name, value)
        if correlation_id is not None:
            shown.set("correlation_id", correlation_id)
        return span

    def _below(self, trace_: int, span: int, step: str) -> context.Context:
        """Below a span of perhaps another process, which sampled, or not, by the trace's id as we do."""
        decision = self._provider.sampler.should_sample(None, trace_, step).decision
        sampled = decision is Decision.RECORD_AND_SAMPLE
        flags = TraceFlags(TraceFlags.SAMPLED if sampled else TraceFlags.DEFAULT)
        known = SpanContext(trace_, span, is_remote=True, trace_flags=flags)
        return trace.set_span_in_context(NonRecordingSpan(known), context.Context())


def open_tracing(program: str, exporter: str) -> OtelTracing:
    """Tracing to the exporter that is installed under this name (`otlp`, `console`, …)."""
    for point in entry_points(group="opentelemetry_traces_exporter", name=exporter):
        return OtelTracing(program, point.load()())
    raise ConfigError(
        f"OTEL_TRACES_EXPORTER={exporter}: no such exporter is installed; for otlp, "
        "install opentelemetry-exporter-otlp"
    )
