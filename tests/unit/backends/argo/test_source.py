"""One Workflow at a time: whatever its status holds concerns that Workflow alone."""

from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from switchyard.backends.argo.informer import Change
from switchyard.backends.argo.nodes import UNPACKED_LIMIT, NodesError, pack, unpack
from switchyard.backends.argo.source import ArgoSource, Place
from switchyard.backends.kubernetes.client import Cluster
from switchyard.backends.kubernetes.credentials import Credentials
from switchyard.sources import Notice, Observation
from switchyard.status import Status
from switchyard.store import open_store

NAME = "0190163d-8694-739b-aea5-966c26f8ad91"
MALFORMED: dict[str, Any] = {
    "outputs is a text": {"phase": "Succeeded", "outputs": "x"},
    "outputs.parameters is a number": {"phase": "Succeeded", "outputs": {"parameters": 7}},
    "nodes is a list": {"phase": "Failed", "nodes": ["x"]},
    "a node is a text": {"phase": "Failed", "nodes": {NAME: "x"}},
    "a node's outputs is a text": {"phase": "Failed", "nodes": {NAME: {"phase": "Failed", "outputs": "x"}}},
}


def workflow(status: Any) -> dict[str, Any]:
    labels = {"switchyard.dev/managed-by": "switchyard", "switchyard.dev/action": NAME}
    return {
        "metadata": {"name": NAME, "uid": "u", "resourceVersion": "1", "labels": labels},
        "status": status,
    }


@pytest.fixture
async def source(tmp_path: Path) -> ArgoSource:
    return ArgoSource(Cluster(Credentials()), Place("flows"), open_store(tmp_path.as_uri()))


@pytest.mark.parametrize("status", MALFORMED.values(), ids=MALFORMED.keys())
async def test_hole_31_a_malformed_workflow_is_reported_once_and_set_aside(
    source: ArgoSource, status: Any
) -> None:
    seen = source._seen(Change(NAME, workflow(status)))
    assert isinstance(seen, Notice)
    assert (seen.subject, seen.key) == ("argo/flows", NAME)
    assert source._seen(Change(NAME, workflow(status))) is None, "once"
    good = source._seen(Change(NAME, workflow({"phase": "Running"})))
    assert isinstance(good, Observation)
    assert (good.uuid, good.status) == (UUID(NAME), Status.RUNNING)
    assert isinstance(source._seen(Change(NAME, workflow(status))), Notice), "a new fault"


@pytest.mark.parametrize("status", ["x", ["x"], {"phase": ["Failed"]}, {"phase": 3}])
async def test_hole_31_a_status_without_a_phase_does_not_end_the_list(
    source: ArgoSource, status: Any
) -> None:
    assert source._informer._keep(workflow(status)) == NAME


def test_security_l11_compressed_nodes_unpack_to_at_most_16_mib() -> None:
    assert UNPACKED_LIMIT == 16 * 2**20
    with pytest.raises(NodesError, match="cut short, or too large"):
        unpack(pack({"n": {"message": "x" * (UNPACKED_LIMIT + 1)}}))
