"""Which nodes of an archived workflow the next run has done already."""

from typing import Any

import pytest

from switchyard.backends.argo.continuing import NothingToContinue, _fnv1a, continued
from switchyard.backends.argo.nodes import nodes_of, pack

BODY: dict[str, Any] = {"metadata": {"name": "w-r2"}, "spec": {}}


def archived(*nodes: dict[str, Any]) -> dict[str, Any]:
    return {"metadata": {"name": "w"}, "status": {"nodes": {node["id"]: node for node in nodes}}}


def node(
    key: str,
    kind: str = "Pod",
    phase: str = "Succeeded",
    inside: str = "w",
    children: list[str] | None = None,
) -> dict[str, Any]:
    """A node whose id is also the end of its name."""
    whole = "w" if key == "w" else f"w.{key}"
    made = {"id": key, "name": whole, "type": kind, "phase": phase, "finishedAt": "2026-01-01T00:00:00Z"}
    return (
        made | ({} if key == "w" else {"boundaryID": inside}) | ({"children": children} if children else {})
    )


def names(*nodes: dict[str, Any]) -> dict[str, str]:
    made, _ = continued(archived(*nodes), BODY)
    return {each["name"]: each["phase"] for each in made["status"]["nodes"].values()}


ROOT = node("w", "DAG", "Failed", children=["a", "b"])


def test_ids_are_hashes_of_the_new_names() -> None:
    assert (_fnv1a(""), _fnv1a("a"), _fnv1a("foobar")) == (0x811C9DC5, 0xE40C292C, 0xBF9CF968)
    made, count = continued(archived(ROOT, node("a"), node("b", phase="Failed")), BODY)
    key = f"w-r2-{_fnv1a('w-r2.a')}"
    assert count == 1
    assert made["status"]["nodes"].keys() == {"w-r2", key}
    root = made["status"]["nodes"]["w-r2"]
    assert (root["phase"], root["finishedAt"], root["children"]) == ("Running", None, [key])
    assert made["status"]["nodes"][key]["boundaryID"] == "w-r2"
    assert made["spec"] == {}


def test_what_failed_was_omitted_or_belongs_to_the_exit_handler_runs_again() -> None:
    left = [
        node("b", phase="Failed"),
        node("c", "Skipped", "Omitted"),
        node("onExit"),
        node("d", phase="Error"),
    ]
    assert names(ROOT, node("a"), *left) == {"w-r2": "Running", "w-r2.a": "Succeeded"}


def test_groups_around_what_failed_run_again_and_keep_what_succeeded() -> None:
    inner = node("g", "Steps", "Failed", children=["g0"])
    step = node("g0", "StepGroup", "Failed", "g", ["x", "y"])
    found = names(ROOT, inner, step, node("x", inside="g"), node("y", phase="Failed", inside="g"))
    assert found == {"w-r2": "Running", "w-r2.g": "Running", "w-r2.g0": "Running", "w-r2.x": "Succeeded"}


def test_what_failed_inside_a_group_that_succeeded_does_not_run_again() -> None:
    allowed = node("g0", "StepGroup", "Succeeded", children=["x"])
    retried = node("r", "Retry", "Succeeded", children=["r0", "r1"])
    whole = node("t", "Steps", "Succeeded")
    inside = [
        node("x", phase="Failed"),
        node("r0", phase="Failed"),
        node("r1"),
        node("z", phase="Failed", inside="t"),
    ]
    found = names(ROOT, node("b", phase="Failed"), allowed, retried, whole, *inside)
    assert found.keys() == {"w-r2", *(f"w-r2.{key}" for key in ("g0", "x", "r", "r0", "r1", "t", "z"))}


def test_a_node_whose_retries_were_exhausted_starts_again() -> None:
    retried = node("r", "Retry", "Failed", children=["r0", "r1"])
    attempts = [node("r0", "Steps", "Failed"), node("r1", "Steps", "Failed"), node("x", inside="r1")]
    assert names(ROOT, node("a"), retried, *attempts) == {"w-r2": "Running", "w-r2.a": "Succeeded"}


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ([], "has no nodes"),
        ([node("w", "DAG"), node("a")], "every node of the earlier run succeeded"),
        ([ROOT, node("a", phase="Failed")], "no node of the earlier run succeeded"),
        ([ROOT, node("a", phase="Skipped")], "no node of the earlier run succeeded"),
    ],
)
def test_nothing_to_continue(nodes: list[dict[str, Any]], reason: str) -> None:
    with pytest.raises(NothingToContinue, match=reason):
        continued(archived(*nodes), BODY)


def test_nodes_that_were_stored_compressed_stay_so() -> None:
    whole = archived(ROOT, node("a"), node("b", phase="Failed"))
    small = {**whole, "status": {"compressedNodes": pack(whole["status"]["nodes"])}}
    made, count = continued(small, BODY)
    assert (count, made["status"].keys()) == (1, {"compressedNodes"})
    assert nodes_of(made).keys() == continued(whole, BODY)[0]["status"]["nodes"].keys()
