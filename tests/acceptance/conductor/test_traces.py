"""Submit, claim, dispatch and outcome are one trace, although two programs write it."""

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from switchyard.process.otel import span_id, trace_id
from tests.acceptance.conductor.counting import Counting
from tests.deployment.deployment import Deployment


def spans_in(text: str) -> Iterator[dict[str, Any]]:
    """What the console exporter printed among other things."""
    reader, at = json.JSONDecoder(), text.find("{")
    while at >= 0:
        span, end = reader.raw_decode(text, at)
        yield span
        at = text.find("{", end)


def test_one_trace_from_the_command_to_the_outcome(deployment: Deployment, counts: Counting) -> None:
    webhook = {"type": "http", "request": {"url": counts.url}, "allow_networks": ["127.0.0.0/8"]}
    deployment.configure({"actions": {"webhook": webhook}})

    def ran(program: str, *words: str) -> str:
        done = deployment.run(program, *words, "-c", deployment.file, OTEL_TRACES_EXPORTER="console")
        assert done.returncode == 0, done.stderr
        return done.stdout

    said = ran("switchyard", "submit", "webhook", "--correlation-id", "order 17")
    done = ran("conductor", "once")
    [(uuid,)] = deployment.database.execute("select action_uuid from switchyard.action")
    spans = {span["name"]: span for text in (said, done) for span in spans_in(text)}
    assert set(spans) == {"submit", "claim", "dispatch", "outcome"}
    assert isinstance(uuid, UUID)
    assert {span["context"]["trace_id"] for span in spans.values()} == {
        f"0x{trace_id(uuid, 'order 17'):032x}"
    }
    [sent] = counts.headers
    context = spans["dispatch"]["context"]
    assert sent["traceparent"] == f"00-{context['trace_id'][2:]}-{context['span_id'][2:]}-01"
    root = spans.pop("submit")
    assert root["parent_id"] is None
    assert root["context"]["span_id"] == f"0x{span_id(uuid):016x}"
    assert {span["parent_id"] for span in spans.values()} == {root["context"]["span_id"]}
    assert spans["outcome"]["attributes"]["switchyard.status"] == "SUCCESSFUL"
    services = {span["resource"]["attributes"]["service.name"] for span in (root, *spans.values())}
    assert services == {"switchyard-submit", "switchyard-conductor"}
