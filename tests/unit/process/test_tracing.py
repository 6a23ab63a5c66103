import json
import os
import subprocess
import sys
from collections.abc import Iterator
from uuid import UUID

import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from switchyard.errors import ConfigError
from switchyard.process import otel, redact, tracing

PARENT = UUID("0199aaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee")
CHILD = UUID("0199aaaa-bbbb-7ccc-8ddd-000000000001")


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    memory = InMemorySpanExporter()
    monkeypatch.setattr(tracing, "_tracing", otel.OtelTracing("test", memory))
    yield memory
    tracing.close()


def spans(exporter: InMemorySpanExporter) -> dict[str, ReadableSpan]:
    tracing.close()
    return {span.name: span for span in exporter.get_finished_spans()}


def test_off_costs_nothing_and_reports_nothing() -> None:
    assert not tracing.configure("conductor", {})
    assert not tracing.configure("conductor", {"OTEL_TRACES_EXPORTER": "none"})
    assert not tracing.enabled()
    with tracing.span("dispatch", action_uuid=PARENT, correlation_id=None) as step:
        step.set("outcome", "success")
        assert tracing.headers() == {}
    tracing.mark("claim", seconds=1, action_uuid=PARENT, correlation_id=None)
    tracing.close()


def test_the_steps_of_one_action_are_one_trace(exporter: InMemorySpanExporter) -> None:
    assert tracing.enabled()
    with tracing.span("submit", action_uuid=PARENT, correlation_id="request 7"):
        pass
    tracing.mark("claim", seconds=0.5, action_uuid=PARENT, correlation_id="request 7", action="webhook")
    with tracing.span("dispatch", action_uuid=PARENT, correlation_id="request 7") as step:
        step.set("outcome", "success")
        sent = tracing.headers()["traceparent"]
    found = spans(exporter)
    assert len({span.context.trace_id for span in found.values()}) == 1
    submit, claim, dispatch = found["submit"], found["claim"], found["dispatch"]
    assert submit.parent is None
    assert claim.parent is not None
    assert dispatch.parent is not None
    assert claim.parent.span_id == dispatch.parent.span_id == submit.context.span_id == otel.span_id(PARENT)
    assert claim.start_time is not None
    assert claim.end_time is not None
    assert claim.end_time - claim.start_time == 500_000_000
    assert dict(claim.attributes or {}) == {
        "switchyard.action_uuid": str(PARENT),
        "switchyard.correlation_id": "request 7",
        "switchyard.action": "webhook",
    }
    assert sent == f"00-{dispatch.context.trace_id:032x}-{dispatch.context.span_id:016x}-01"


def test_a_callback_hangs_below_its_workflow(exporter: InMemorySpanExporter) -> None:
    tracing.mark("submit", seconds=0, action_uuid=CHILD, correlation_id="x", parent_uuid=PARENT)
    submit = spans(exporter)["submit"]
    assert submit.parent is not None
    assert submit.parent.span_id == otel.span_id(PARENT)
    assert submit.context.span_id == otel.span_id(CHILD)


def test_names_of_traces() -> None:
    assert otel.trace_id(PARENT, None) == PARENT.int
    assert otel.trace_id(PARENT, str(CHILD)) == CHILD.int
    assert otel.trace_id(PARENT, "4bf92f3577b34da6a3ce929d0e0e4736") == 0x4BF92F3577B34DA6A3CE929D0E0E4736
    assert otel.trace_id(PARENT, "0" * 32) != 0
    assert otel.trace_id(PARENT, "a") == otel.trace_id(CHILD, "a") != otel.trace_id(PARENT, "b")
    assert otel.trace_id(PARENT, "\ud800")


def test_failures_report_their_kind_and_no_secret(exporter: InMemorySpanExporter) -> None:
    redact.register_secret("hunter2hunter2")
    with (
        pytest.raises(RuntimeError),
        tracing.span("dispatch", action_uuid=PARENT, correlation_id="hunter2hunter2"),
    ):
        raise RuntimeError("anything")
    with tracing.span("outcome", action_uuid=PARENT, correlation_id=None) as step:
        step.set("error", "token hunter2hunter2 refused")
    found = spans(exporter)
    assert found["dispatch"].status.description == "RuntimeError"
    assert dict(found["outcome"].attributes or {})["switchyard.error"] == "token [redacted] refused"
    assert "hunter2" not in "".join(span.to_json() for span in found.values())


def test_sampling_is_by_trace_so_all_processes_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0.5")
    kept = []
    for step in ("submit", "dispatch"):
        memory = InMemorySpanExporter()
        monkeypatch.setattr(tracing, "_tracing", otel.OtelTracing("test", memory))
        for number in range(200):
            tracing.mark(step, seconds=0, action_uuid=PARENT, correlation_id=f"c{number}")
        tracing.close()
        kept.append({span.context.trace_id for span in memory.get_finished_spans()})
    assert kept[0] == kept[1]
    assert 60 < len(kept[0]) < 140


def test_an_exporter_that_is_not_there() -> None:
    with pytest.raises(ConfigError, match="opentelemetry-exporter-otlp"):
        tracing.configure("conductor", {"OTEL_TRACES_EXPORTER": "otlp_nowhere"})


PROGRAM = """
import sys
from uuid import UUID
from switchyard.process import tracing
if "without" in sys.argv:
    sys.modules["opentelemetry"] = None
print(tracing.configure("conductor"), flush=True)
tracing.mark(sys.argv[1], seconds=0, action_uuid=UUID(sys.argv[2]), correlation_id="c")
tracing.close()
"""


def run(*words: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "OTEL_TRACES_EXPORTER": "console"}
    command = [sys.executable, "-c", PROGRAM, *words]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=True)


def test_two_processes_meet_in_one_trace() -> None:
    first, second = (
        json.loads(run(step, str(PARENT)).stdout.partition("\n")[2]) for step in ("submit", "claim")
    )
    assert first["context"]["trace_id"] == second["context"]["trace_id"]
    assert second["parent_id"] == first["context"]["span_id"]
    assert first["resource"]["attributes"]["service.name"] == "switchyard-conductor"


def test_without_the_extra_it_warns_and_goes_on() -> None:
    done = run("claim", str(PARENT), "without")
    assert done.stdout == "False\n"
    assert "extra 'otel'" in done.stderr
