"""Spans that this process makes, kept in memory."""

from collections.abc import Iterator
from contextlib import contextmanager

from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from switchyard.process import otel, tracing


@contextmanager
def kept_spans() -> Iterator[list[ReadableSpan]]:
    """Filled at the end of the block, when tracing is off again."""
    memory, spans = InMemorySpanExporter(), list[ReadableSpan]()
    tracing._tracing = otel.OtelTracing("test", memory)
    try:
        yield spans
    finally:
        tracing.close()
        spans += memory.get_finished_spans()
