"""Waking a suspended node: which one, and what the patch says."""

from typing import Any

import pytest

from switchyard.backends.argo.nodes import pack, unpack
from switchyard.backends.argo.resume.wake import Selector, awake, suspended, waking


def workflow(*, packed: bool = False, **change: Any) -> dict[str, Any]:
    supplied = [{"name": "answer", "valueFrom": {"supplied": {}}}]
    nodes = {
        "w-1": {
            "id": "w-1",
            "type": "Suspend",
            "phase": "Running",
            "displayName": "approve",
            "templateName": "wait",
            "inputs": {"parameters": [{"name": "site", "value": "7"}]},
            "outputs": {"parameters": supplied},
            **change,
        },
        "w-2": {"id": "w-2", "type": "Pod", "phase": "Running", "displayName": "approve"},
    }
    status = {"compressedNodes": pack(nodes)} if packed else {"nodes": nodes}
    return {"metadata": {"name": "w", "resourceVersion": "42"}, "status": status}


@pytest.mark.parametrize(
    "text", ["displayName=approve", "templateName==wait", "id=w-1", "displayName=approve,templateName=wait"]
)
def test_a_waiting_node_is_found(text: str) -> None:
    assert suspended(workflow(), Selector(text)) == ["w-1"]
    assert suspended(workflow(packed=True), Selector(text)) == ["w-1"]


def test_inputs_distinguish_nodes_of_one_template() -> None:
    assert suspended(workflow(), Selector("inputs.parameters.site.value=7")) == ["w-1"]
    assert suspended(workflow(), Selector("inputs.parameters.site.value=8")) == []
    assert suspended(workflow(), Selector("inputs.parameters.other.value=7")) == []


@pytest.mark.parametrize("text", ["", "approve", "displayName=", "=x", "phase=Running", "displayName=a,,"])
def test_a_bad_selector_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="selector"):
        Selector(text)


def test_the_patch_names_the_version_and_the_values() -> None:
    patch = waking(workflow(), ["w-1"], {"answer": "yes"}, "by me")
    assert patch["metadata"] == {"resourceVersion": "42"}
    node = patch["status"]["nodes"]["w-1"]
    assert (node["phase"], node["message"]) == ("Succeeded", "by me")
    assert node["outputs"]["parameters"] == [{"name": "answer", "value": "yes"}]


def test_compressed_nodes_are_packed_again() -> None:
    patch = waking(workflow(packed=True), ["w-1"], {"answer": "yes"}, "by me")
    nodes = unpack(patch["status"]["compressedNodes"])
    assert nodes["w-1"]["phase"] == "Succeeded"
    assert nodes["w-1"]["displayName"] == "approve"
    assert nodes["w-2"]["phase"] == "Running"


def test_outputs_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="waits for the output 'answer'"):
        waking(workflow(), ["w-1"], {}, "by me")
    with pytest.raises(ValueError, match="expects no output 'other'"):
        waking(workflow(), ["w-1"], {"answer": "yes", "other": "no"}, "by me")
    with pytest.raises(ValueError, match="expects none"):
        waking(workflow(outputs=None), ["w-1"], {"answer": "yes"}, "by me")


def test_a_default_replaces_an_output_that_is_not_given() -> None:
    given = {"parameters": [{"name": "answer", "valueFrom": {"supplied": {}, "default": "no"}}]}
    patch = waking(workflow(outputs=given), ["w-1"], {}, "by me")
    assert patch["status"]["nodes"]["w-1"]["outputs"]["parameters"] == [{"name": "answer", "value": "no"}]


def test_a_node_woken_before_is_awake() -> None:
    assert awake(workflow(phase="Succeeded"), Selector("id=w-1"))
    assert not awake(workflow(), Selector("id=w-1"))
    assert suspended(workflow(phase="Succeeded"), Selector("id=w-1")) == []
