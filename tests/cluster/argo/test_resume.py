"""argo_resume against the real controller: who is woken, with what, and who is left alone."""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from switchyard.backends.argo.model import ArgoResumeAction
from switchyard.backends.argo.nodes import pack
from switchyard.backends.argo.resource import workflows
from switchyard.backends.argo.resume.handler import ArgoResumeHandler
from switchyard.handlers import Failed, HandlerContext, Invalid, Retry, Success
from switchyard.places import Places
from switchyard.store import Store, open_store
from tests.cluster.argo.dispatching import work
from tests.cluster.argo.watching import submit
from tests.cluster.flow.flows import APPROVAL
from tests.cluster.interceptor import Fault, Interceptor
from tests.parts.argo import Argo
from tests.parts.kubernetes import Cluster
from tests.uuids import uuid7
from tests.waiting import eventually

APPROVE = {"node": "displayName=approve", "outputs": {"answer": "yes"}}


@pytest.fixture
def between(argo: Argo) -> Iterator[Interceptor]:
    with Interceptor(argo.cluster) as interceptor:
        yield interceptor


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(f"file://{tmp_path}/store")


@pytest.fixture
async def resume(
    argo: Argo, between: Interceptor, namespace: str, tmp_path: Path, store: Store
) -> AsyncIterator[ArgoResumeHandler]:
    kubeconfig = between.kubeconfig(tmp_path, argo.cluster.admin_token)
    action = ArgoResumeAction.model_validate(
        {"namespace": namespace, "kubeconfig": str(kubeconfig), "outputs": {}}
    )
    handler = ArgoResumeHandler("resume", action, HandlerContext(None, store, {}))
    await handler.start()
    yield handler
    await handler.close()


def call(workflow: object, **parameters: Any) -> Any:
    return replace(work(), workflow=None, parameters={"workflow": str(workflow), **parameters})


async def waiting(argo: Argo, namespace: str) -> UUID:
    """A workflow of ours that waits at `approve`."""
    uuid = submit(argo.cluster, namespace, APPROVAL)
    await eventually(lambda: "approve" in names(argo, namespace, uuid))
    return uuid


def names(argo: Argo, namespace: str, uuid: UUID) -> set[str]:
    nodes = argo.get(namespace, str(uuid)).get("status", {}).get("nodes", {})
    return {node["displayName"] for node in nodes.values() if node["phase"] == "Running"}


def answer(argo: Argo, namespace: str, uuid: UUID) -> str:
    """What the workflow took from the node, once it has ended."""
    done = argo.until_phase(namespace, str(uuid), "Succeeded")
    (parameter,) = done["status"]["nodes"][str(uuid)]["outputs"]["parameters"]
    value: str = parameter["value"]
    return value


async def test_a_waiting_node_goes_on_with_what_it_was_given(
    resume: ArgoResumeHandler, argo: Argo, namespace: str
) -> None:
    uuid = await waiting(argo, namespace)
    assert isinstance(await resume.dispatch(call(uuid, **APPROVE)), Success)
    again = await resume.dispatch(call(uuid, **APPROVE))
    assert isinstance(again, Success), "a second delivery finds it awake"
    assert answer(argo, namespace, uuid) == "yes"


async def test_compressed_nodes_are_woken_and_argo_reads_them(
    resume: ArgoResumeHandler, argo: Argo, namespace: str
) -> None:
    """The controller itself unpacks what we packed, and takes it from there."""
    uuid = await waiting(argo, namespace)
    nodes = argo.get(namespace, str(uuid))["status"]["nodes"]
    status = {"nodes": None, "compressedNodes": pack(nodes)}
    argo.stop()
    try:
        argo.cluster.api.patch(f"{workflows(namespace)}/{uuid}", {"status": status})
        assert isinstance(await resume.dispatch(call(uuid, **APPROVE)), Success)
    finally:
        argo.start()
    assert answer(argo, namespace, uuid) == "yes"


async def test_one_that_does_not_wait_yet_is_tried_again(
    resume: ArgoResumeHandler, argo: Argo, namespace: str
) -> None:
    uuid = await waiting(argo, namespace)
    outcome = await resume.dispatch(call(uuid, node="displayName=after"))
    assert isinstance(outcome, Retry)
    assert not outcome.sent


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"node": "approve"}, "selector"),
        ({"outputs": {}}, "waits for the output 'answer'"),
        ({"outputs": {"answer": "yes", "more": "x"}}, "expects no output 'more'"),
        ({"outputs": "yes"}, "is not a mapping of names"),
        ({"workflow": "../../secrets/x"}, "is not the name of a Switchyard workflow"),
    ],
)
async def test_what_can_never_work_is_invalid(
    resume: ArgoResumeHandler, argo: Argo, namespace: str, change: dict[str, Any], reason: str
) -> None:
    uuid = await waiting(argo, namespace)
    outcome = await resume.dispatch(call(**{"workflow": uuid, **APPROVE, **change}))
    assert isinstance(outcome, Invalid)
    assert reason in outcome.error


async def test_one_that_ended_or_is_gone_is_failed(
    resume: ArgoResumeHandler, argo: Argo, namespace: str
) -> None:
    uuid = await waiting(argo, namespace)
    path = f"{workflows(namespace)}/{uuid}"
    argo.cluster.api.patch(path, {"spec": {"shutdown": "Terminate"}})
    argo.until_phase(namespace, str(uuid), "Failed")
    assert isinstance(await resume.dispatch(call(uuid, **APPROVE)), Failed)
    argo.cluster.api.delete(path)
    gone = await resume.dispatch(call(uuid, **APPROVE))
    assert isinstance(gone, Failed)
    assert "nothing to wake" in gone.error


async def test_one_that_was_woken_ended_and_was_deleted_is_found_in_its_archive(
    resume: ArgoResumeHandler, argo: Argo, namespace: str, store: Store
) -> None:
    """As after a delivery whose answer was lost."""
    uuid = await waiting(argo, namespace)
    assert isinstance(await resume.dispatch(call(uuid, **APPROVE)), Success)
    answer(argo, namespace, uuid)
    store.put(Places(uuid, 1).workflow, json.dumps(argo.get(namespace, str(uuid))).encode())
    argo.cluster.api.delete(f"{workflows(namespace)}/{uuid}")
    assert isinstance(await resume.dispatch(call(uuid, **APPROVE)), Success)
    assert isinstance(await resume.dispatch(call(uuid, node="displayName=another")), Failed)


@pytest.mark.parametrize("content", [b"no JSON", b"[]", b'{"status": {"nodes": 1}}', b"[" * 100_000])
async def test_an_archive_that_cannot_be_read_proves_no_delivery(
    resume: ArgoResumeHandler, store: Store, content: bytes
) -> None:
    uuid = uuid7()
    store.put(Places(uuid, 1).workflow, content)
    assert isinstance(await resume.dispatch(call(uuid, **APPROVE)), Failed)


async def test_what_the_api_server_answers_decides_whether_it_is_tried_again(
    resume: ArgoResumeHandler, between: Interceptor, argo: Argo, namespace: str
) -> None:
    uuid = await waiting(argo, namespace)
    answers: list[tuple[str, int | None, type[Retry] | type[Failed], str]] = [
        ("GET", None, Retry, "Kubernetes API"),
        ("GET", 503, Retry, "503"),
        ("GET", 403, Retry, "403"),
        ("PATCH", 422, Failed, "422"),
    ]
    for method, status, kind, error in answers:
        between.inject(Fault(method, str(uuid), status, times=2 if status is None else 1))
        outcome = await resume.dispatch(call(uuid, **APPROVE))
        assert isinstance(outcome, kind), (method, status)
        assert error in outcome.error
    between.inject(Fault("PATCH", str(uuid), 409, times=5))
    changing = await resume.dispatch(call(uuid, **APPROVE))
    assert changing == Retry(f'the workflow "{uuid}" changed repeatedly', sent=False)
    between.inject(Fault("PATCH", str(uuid), 409))
    assert isinstance(await resume.dispatch(call(uuid, **APPROVE)), Success), (
        "one conflict is looked at again"
    )


async def test_nodes_that_cannot_be_read_are_failed(
    resume: ArgoResumeHandler, kubernetes: Cluster, namespace: str
) -> None:
    """Nobody's controller looks at one that is marked as completed."""
    uuid = submit(kubernetes, namespace, APPROVAL)
    path = f"{workflows(namespace)}/{uuid}"
    labels = {"workflows.argoproj.io/completed": "true"}
    kubernetes.api.patch(
        path, {"metadata": {"labels": labels}, "status": {"nodes": None, "compressedNodes": "bm8="}}
    )
    outcome = await resume.dispatch(call(uuid, **APPROVE))
    assert isinstance(outcome, Failed)
    assert "cannot be resumed" in outcome.error


async def test_somebody_elses_is_left_alone(
    resume: ArgoResumeHandler, argo: Argo, kubernetes: Cluster, namespace: str
) -> None:
    uuid = await waiting(argo, namespace)
    path = f"{workflows(namespace)}/{uuid}"
    kubernetes.api.patch(path, {"metadata": {"labels": {"switchyard.dev/managed-by": "another"}}})
    outcome = await resume.dispatch(call(uuid, **APPROVE))
    assert isinstance(outcome, Failed)
    assert "not ours" in outcome.error
    assert "approve" in names(argo, namespace, uuid)
