"""What a Workflow resource comes to. The shapes are those that Argo 3.7.0 writes."""

import json
from typing import Any
from uuid import UUID

import pytest

from switchyard.backends.argo.nodes import pack
from switchyard.backends.argo.observe import observe
from switchyard.status import Status

UUID_ = UUID("0190163d-8694-739b-aea5-966c26f8ad91")
NAME = f"{UUID_}-r2"


def workflow(phase: str | None, message: str = "", nodes: Any = None, **status: Any) -> dict[str, Any]:
    return {
        "metadata": {
            "name": NAME,
            "uid": "u-1",
            "labels": {"switchyard.dev/action": str(UUID_), "switchyard.dev/managed-by": "switchyard"},
        },
        "spec": {},
        "status": {"phase": phase, "message": message, "nodes": nodes or {}, **status},
    }


def node(key: str, kind: str, phase: str, message: str = "", **more: Any) -> dict[str, Any]:
    shown = {"id": key, "name": key, "displayName": key, "type": kind, "phase": phase, "message": message}
    return {key: {**shown, "finishedAt": "2026-01-01T00:00:01Z", **more}}


@pytest.mark.parametrize(
    ("phase", "message", "expected"),
    [
        (None, "", Status.QUEUED),
        ("Pending", "", Status.QUEUED),
        ("Running", "", Status.RUNNING),
        ("Succeeded", "", Status.SUCCESSFUL),
        ("Failed", "child 'x' failed", Status.FAILED),
        ("Error", "invalid spec: templates.main missing", Status.FAILED),
        ("Failed", "Stopped with strategy 'Terminate'", Status.CANCELED),
        ("Failed", "Stopped with strategy 'Stop'", Status.CANCELED),
        ("Failed", "Step exceeded its deadline", Status.TIMED_OUT),
        ("Failed", "Pod was active on the node longer than the specified deadline", Status.TIMED_OUT),
    ],
)
def test_phases_become_statuses(phase: str | None, message: str, expected: Status) -> None:
    seen = observe(workflow(phase, message))
    assert seen is not None
    assert (seen.uuid, seen.run, seen.status) == (UUID_, 2, expected)
    assert (seen.record is not None) == expected.ended
    if expected.ended and expected is not Status.SUCCESSFUL:
        assert seen.error == message


@pytest.mark.parametrize(
    "change",
    [
        {"name": "somebody-elses"},
        {"labels": {}},
        {"labels": None},
        {"labels": {"switchyard.dev/action": "other", "switchyard.dev/managed-by": "switchyard"}},
        {"labels": {"switchyard.dev/action": str(UUID_), "switchyard.dev/managed-by": "another"}},
    ],
)
def test_what_is_not_ours_is_not_observed(change: dict[str, Any]) -> None:
    resource = workflow("Succeeded")
    resource["metadata"].update(change)
    assert observe(resource) is None


def test_an_unknown_phase_is_not_guessed_at() -> None:
    assert observe(workflow("Sublimated")) is None


def nested() -> dict[str, Any]:
    """A steps template whose second group runs a DAG; there a task is retried, and its last attempt fails."""
    code = {"exitCode": "65"}
    return {
        **node(NAME, "Steps", "Failed", "child 'dag' failed", children=["g0"]),
        **node("g0", "StepGroup", "Succeeded", boundaryID=NAME, children=["ok", "tolerated"]),
        **node("ok", "Pod", "Succeeded", boundaryID=NAME, children=["g1"]),
        **node("tolerated", "Pod", "Failed", "main: Error (exit code 1)", boundaryID=NAME),
        **node("g1", "StepGroup", "Failed", "child 'dag' failed", boundaryID=NAME, children=["dag"]),
        **node("dag", "DAG", "Failed", boundaryID=NAME, children=["retry", "late"]),
        **node("retry", "Retry", "Failed", "No more retries left", boundaryID="dag", children=["r0", "r1"]),
        **node(
            "r0", "Pod", "Failed", "main: Error (exit code 75)", boundaryID="dag", outputs={"exitCode": "75"}
        ),
        **node("r1", "Pod", "Failed", "main: Error (exit code 65): bad file", boundaryID="dag", outputs=code),
        **node("late", "Pod", "Failed", "killed", boundaryID="dag", finishedAt="2026-01-01T00:00:09Z"),
    }


def test_the_step_that_really_failed_is_found_deep_inside() -> None:
    seen = observe(workflow("Failed", "child 'dag' failed", nested()))
    assert seen is not None
    assert seen.status is Status.FAILED
    assert seen.error == "r1: main: Error (exit code 65): bad file"
    assert (seen.exit_code, seen.fatal) == (65, True)
    assert seen.detail["step"]["node"] == "r1"
    assert seen.detail["message"] == "child 'dag' failed"


def test_compressed_nodes_are_read_alike() -> None:
    plain = observe(workflow("Failed", "child 'dag' failed", nested()))
    compressed = observe(workflow("Failed", "child 'dag' failed", compressedNodes=pack(nested())))
    assert plain is not None
    assert compressed is not None
    assert (compressed.error, compressed.exit_code) == (plain.error, plain.exit_code)


def test_unreadable_nodes_leave_the_workflows_own_message() -> None:
    seen = observe(workflow("Failed", "child 'dag' failed", offloadNodeStatusVersion="fnv:1"))
    assert seen is not None
    assert seen.error == "child 'dag' failed"
    assert "offloaded" in seen.detail["nodes"]


def test_a_failed_exit_handler_is_named_where_the_rest_succeeded() -> None:
    nodes = {
        **node(NAME, "Pod", "Succeeded"),
        **node("exit", "Pod", "Failed", "main: Error (exit code 3)", name=f"{NAME}.onExit"),
    }
    seen = observe(workflow("Failed", "", nodes))
    assert seen is not None
    assert seen.error == "exit: main: Error (exit code 3)"


def test_nodes_that_point_at_each_other_end_the_walk() -> None:
    nodes = {
        **node(NAME, "Steps", "Failed", "child 'a' failed"),
        **node("a", "Steps", "Failed", "child 'b' failed", boundaryID=NAME),
        **node("b", "Retry", "Failed", f"child '{NAME}' failed", boundaryID="a", children=["a"]),
    }
    seen = observe(workflow("Failed", "child 'a' failed", nodes))
    assert seen is not None
    assert seen.error is not None
    assert seen.error.startswith("b: ")


def test_a_deadline_deep_inside_is_timed_out() -> None:
    nodes = {
        **node(NAME, "Steps", "Failed", "child 'a' failed"),
        **node("a", "Pod", "Failed", "Step exceeded its deadline", boundaryID=NAME),
    }
    seen = observe(workflow("Failed", "child 'a' failed", nodes))
    assert seen is not None
    assert seen.status is Status.TIMED_OUT


def test_outputs_are_the_global_ones_else_those_of_the_entry_point() -> None:
    given = {"parameters": [{"name": "total", "value": "7"}, {"name": "empty"}]}
    seen = observe(workflow("Succeeded", outputs=given))
    assert seen is not None
    assert seen.output == {"total": "7"}
    seen = observe(workflow("Succeeded", nodes=node(NAME, "Pod", "Succeeded", outputs=given)))
    assert seen is not None
    assert seen.output == {"total": "7"}
    bare = observe(workflow("Succeeded"))
    assert bare is not None
    assert bare.output is None


def test_the_record_is_the_whole_resource() -> None:
    resource = workflow("Failed", "child 'dag' failed", nested())
    seen = observe(resource)
    assert seen is not None
    assert seen.record is not None
    assert json.loads(seen.record) == resource


@pytest.mark.parametrize(
    ("artifact", "address"),
    [
        ({"name": "main-logs", "s3": {"key": "k/main.log"}}, "s3://argo/k/main.log"),
        ({"name": "main-logs", "s3": {"key": "k/main.log", "bucket": "own"}}, "s3://own/k/main.log"),
        ({"name": "result", "s3": {"key": "k/result"}}, None),
        ({"name": "main-logs", "gcs": {"key": "k"}}, None),
    ],
)
def test_the_archived_log_of_the_failed_step(artifact: dict[str, Any], address: str | None) -> None:
    nodes = node(NAME, "Pod", "Failed", "main: Error (exit code 1)", outputs={"artifacts": [artifact]})
    where = {"artifactRepository": {"s3": {"bucket": "argo"}}}
    seen = observe(workflow("Failed", "x", nodes, artifactRepositoryRef=where))
    assert seen is not None
    assert seen.handle.log == address
