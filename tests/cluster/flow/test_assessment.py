"""An assessment inside a real Argo workflow: a node runs the pods, so `assessment run` really computes."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.cluster.flow.conftest import Yards
from tests.cluster.flow.flows import DONE
from tests.parts.node import Node
from tests.waiting import until


def pod(*command: str, **environ: str) -> dict[str, Any]:
    """A workflow of one pod that receives its places as interface and documents have it."""
    told = {
        "SWITCHYARD_ACTION_UUID": "{{workflow.parameters.switchyard-action-uuid}}",
        "SWITCHYARD_RUN": "{{workflow.parameters.switchyard-run}}",
        "SWITCHYARD_INPUT": "{{workflow.parameters.switchyard-input}}",
        "SWITCHYARD_OUTPUT": "{{workflow.parameters.switchyard-output}}",
        "SWITCHYARD_CORRELATION_ID": "{{workflow.parameters.switchyard-correlation-id}}",
        **environ,
    }
    variables = [{"name": name, "value": value} for name, value in told.items()]
    container = {"image": "none", "command": list(command), "env": variables}
    return {"spec": {"entrypoint": "main", "templates": [{"name": "main", "container": container}]}}


def region(folder: Path) -> Path:
    made = subprocess.run(
        [sys.executable, "-m", "assessment", "bundle", "sample", folder], capture_output=True, check=False
    )
    assert made.returncode == 0, made.stderr
    return folder


def test_an_assessment_is_computed_archived_called_back_and_deleted(
    yards: Yards, node: Node, tmp_path: Path
) -> None:
    sample = region(tmp_path / "region")
    (tmp_path / "bad.geojson").write_text("no sites at all")
    run = pod(
        sys.executable,
        "-m",
        "assessment",
        "run",
        "--quiet",
        SWITCHYARD_BUNDLE=str(sample / "bundle"),
        SWITCHYARD_ALLOW_URL=tmp_path.as_uri(),
    )
    total = {**DONE, "name": "total", "parameters": {"n": {"path": "$.output.summary.n_total"}}}
    flow = {"action": "argo", "manifest": run, "retry": {"attempts": 3, "base": "100ms"}}
    yard = yards(
        {
            "assess": {**flow, "callbacks": [DONE, {**total, "when": ["SUCCESSFUL"]}]},
            "flaky": {**flow, "manifest": pod("sh", "-c", '[ "$SWITCHYARD_RUN" = 2 ] || exit 75')},
        }
    )
    yard.start()
    good = yard.submit("assess", input={"url": (sample / "sites.geojson").as_uri()})
    bad = yard.submit("assess", input={"url": (tmp_path / "bad.geojson").as_uri()})
    flaky = yard.submit("flaky")
    until(lambda: yard.ledger.open() == 0, 150, every=0.3)
    threads = yard.ledger.threads()
    assert {u: threads[u][0] for u in (good, bad, flaky)} == {
        good: "SUCCESSFUL",
        bad: "FAILED",
        flaky: "SUCCESSFUL",
    }, threads
    output = json.loads(yard.store.get(f"executions/{good}/r1/output.json"))
    assert output["summary"]["sites"] > 0
    callbacks = yard.ledger.callbacks()
    assert callbacks[good, "total"] == ("SUCCESSFUL", {"n": output["summary"]["n_total"]})
    assert callbacks[bad, "done"] == ("SUCCESSFUL", {"status": "FAILED"})
    assert yard.archived(good)["status"]["phase"] == "Succeeded"
    assert "exit code 65" in str(threads[bad][1])
    runs = dict(yard.database.execute("select action_uuid, run from switchyard.thread where run > 0"))
    assert (runs[bad], runs[flaky]) == (1, 2), "never again after a fatal exit, again after a transient one"
    until(lambda: yard.in_cluster() == [], every=0.3)
