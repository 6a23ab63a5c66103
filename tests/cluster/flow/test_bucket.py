"""Completion with a bucket as the store: archive, log of the failed step, output and callbacks, by a spawned caboose."""

import base64
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from switchyard.backends.argo.resource import workflows
from tests.cluster.flow.yard import Yard
from tests.parts.aws import AwsPart
from tests.parts.database import Database
from tests.parts.kubernetes import Cluster
from tests.parts.workflow import workflow
from tests.waiting import until

TOLD = {"status": {"path": "$.workflow.status"}, "n": {"path": "$.output.n"}}
FLOWS = {
    "job": {
        "action": "argo",
        "template": "t",
        "retry": {"attempts": 3},
        "callbacks": [{"name": "done", "action": "hook", "parameters": TOLD}],
    }
}


@pytest.fixture
def bucket(s3: AwsPart, monkeypatch: pytest.MonkeyPatch) -> str:
    for name, value in s3.environ.items():
        monkeypatch.setenv(name, value)
    return s3.bucket()


@pytest.fixture
def yard(
    kubernetes: Cluster, namespace: str, database: Database, s3: AwsPart, bucket: str, tmp_path: Path
) -> Iterator[Yard]:
    where = (database, kubernetes, namespace, tmp_path, FLOWS)
    made = Yard(*where, store=f"s3://{bucket}/yard", environ=s3.environ)
    yield made
    made.close()


def failed_deep_inside(name: str) -> dict[str, Any]:
    """A step that failed for good below others, in the compressed form that Argo gives large workflows."""
    log = {"name": "main-logs", "s3": {"key": f"logs/{name}/main.log"}}
    pod = {
        "id": f"{name}-2",
        "name": f"{name}[0].inner",
        "displayName": "inner",
        "type": "Pod",
        "phase": "Failed",
        "boundaryID": name,
        "message": "main: Error (exit code 65): no such site",
        "outputs": {"exitCode": "65", "artifacts": [log]},
    }
    root = {
        "id": name,
        "name": name,
        "type": "Steps",
        "phase": "Failed",
        "message": f"child '{name}-2' failed",
    }
    nodes = gzip.compress(json.dumps({name: root, f"{name}-2": pod}).encode())
    return {
        "phase": "Failed",
        "message": f"child '{name}-2' failed",
        "compressedNodes": base64.b64encode(nodes).decode(),
    }


def test_a_failure_and_a_success_are_archived_in_the_bucket(yard: Yard, s3: AwsPart, bucket: str) -> None:
    good = yard.ended("job")
    yard.store.put(f"executions/{good}/r1/output.json", b'{"n": 7}')
    bad = yard.queued("job")
    body = workflow(bad, "Failed")
    repository = {"artifactRepository": {"s3": {"bucket": bucket}}}
    body["status"] = failed_deep_inside(str(bad)) | {"artifactRepositoryRef": repository}
    s3.s3().put_object(Bucket=bucket, Key=f"logs/{bad}/main.log", Body=b"its last words\n")
    yard.cluster.api.create(workflows(yard.namespace), body)
    yard.caboose.start()
    until(lambda: yard.ledger.status(bad) == "FAILED" and yard.in_cluster() == [])
    assert yard.ledger.threads() == {
        good: ("SUCCESSFUL", None, False),
        bad: ("FAILED", "inner: main: Error (exit code 65): no such site", True),
    }
    keys = {each["Key"] for each in s3.s3().list_objects_v2(Bucket=bucket, Prefix="yard/")["Contents"]}
    written = {good: ["output.json", "workflow.json"], bad: ["log.txt", "workflow.json"]}
    assert keys == {f"yard/executions/{uuid}/r1/{name}" for uuid, names in written.items() for name in names}
    assert yard.store.get(f"executions/{bad}/r1/log.txt") == b"its last words\n"
    assert yard.archived(bad)["status"]["phase"] == "Failed"
    assert {
        (uuid, given["status"], given["n"]) for (uuid, _), (_, given) in yard.ledger.callbacks().items()
    } == {
        (good, "SUCCESSFUL", 7),
        (bad, "FAILED", None),
    }
