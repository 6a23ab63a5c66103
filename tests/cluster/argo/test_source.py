"""The argo source against the real API server and the real controller: every end is reported correctly."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from switchyard.backends.argo.resource import workflows
from switchyard.errors import Transient
from switchyard.execution import Shard, name_of
from switchyard.status import Status
from tests.cluster.argo.watching import Listener, listening, local_store, source, submit
from tests.parts.argo import Argo
from tests.parts.kubernetes import Cluster
from tests.parts.node import Node
from tests.waiting import eventually


def single(template: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """A workflow of one template."""
    return {"entrypoint": "main", "templates": [{"name": "main", **template}], **spec}


def pod(script: str) -> dict[str, Any]:
    return {"container": {"image": "none", "command": ["sh", "-c", script]}}


WAIT: dict[str, Any] = {"suspend": {}}
AT_ONCE: dict[str, Any] = {"suspend": {"duration": "0"}}


@pytest.fixture
async def listener(argo: Argo, namespace: str, tmp_path: Path) -> AsyncIterator[Listener]:
    async with listening(source(argo.cluster.kubeconfig, namespace, local_store(tmp_path))) as listener:
        yield listener


async def test_one_that_succeeds(listener: Listener, kubernetes: Cluster, namespace: str) -> None:
    value = {"name": "total", "globalName": "total", "valueFrom": {"expression": "'7'"}}
    uuid = submit(kubernetes, namespace, single({**AT_ONCE, "outputs": {"parameters": [value]}}), run=3)
    seen = await listener.until(uuid, Status.SUCCESSFUL)
    assert (seen.run, seen.error, seen.fatal) == (3, None, False)
    assert seen.record is not None
    assert json.loads(seen.record)["metadata"]["name"] == name_of(uuid, 3)
    order = [Status.QUEUED, Status.RUNNING, Status.SUCCESSFUL]
    told = [status for status in listener.of(uuid) if status is not None]
    assert told == sorted(set(told), key=order.index), "each once, none after the end"


async def test_one_that_waits_is_running_and_present(
    listener: Listener, kubernetes: Cluster, namespace: str
) -> None:
    uuid = submit(kubernetes, namespace, single(WAIT))
    await listener.until(uuid, Status.RUNNING)
    assert listener.source.present(uuid, 1) is True
    assert listener.source.present(uuid, 2) is False
    looked = await listener.source.look(uuid, 1)
    assert looked is not None
    assert looked.status is Status.RUNNING
    assert await listener.source.look(uuid, 2) is None
    assert await listener.source.ready()


NESTED = {
    "entrypoint": "main",
    "templates": [
        {
            "name": "main",
            "steps": [
                [{"name": "tolerated", "template": "seven", "continueOn": {"failed": True}}],
                [{"name": "inner", "template": "graph"}],
            ],
        },
        {"name": "graph", "dag": {"tasks": [{"name": "deep", "template": "again"}]}},
        {"name": "again", "retryStrategy": {"limit": 1}, **pod("echo 'no such column'; exit 65")},
        {"name": "seven", **pod("exit 7")},
    ],
}


async def test_the_message_and_exit_code_of_the_step_that_really_failed(
    listener: Listener, kubernetes: Cluster, namespace: str, node: Node
) -> None:
    uuid = submit(kubernetes, namespace, NESTED)
    seen = await listener.until(uuid, Status.FAILED, 120)
    assert (seen.exit_code, seen.fatal) == (65, True)
    assert seen.error is not None
    assert "exit code 65" in seen.error
    assert "deep" in seen.error
    assert seen.detail["step"]["template"] == "again"


async def test_a_terminated_one_is_canceled(listener: Listener, kubernetes: Cluster, namespace: str) -> None:
    uuid = submit(kubernetes, namespace, single(WAIT))
    await listener.until(uuid, Status.RUNNING)
    await listener.source.stop_execution(uuid, 1, "asked for")
    seen = await listener.until(uuid, Status.CANCELED)
    assert seen.error == "Stopped with strategy 'Terminate'"
    await listener.source.stop_execution(uuid, 1, "once more")
    await listener.source.stop_execution(uuid, 2, "not there")


async def test_one_over_its_deadline_is_timed_out(
    listener: Listener, kubernetes: Cluster, namespace: str
) -> None:
    uuid = submit(kubernetes, namespace, single(WAIT, activeDeadlineSeconds=1))
    seen = await listener.until(uuid, Status.TIMED_OUT)
    assert seen.error is not None
    assert "exceeded its deadline" in seen.error


async def test_an_invalid_one_reports_why(listener: Listener, kubernetes: Cluster, namespace: str) -> None:
    uuid = submit(kubernetes, namespace, {"entrypoint": "nowhere", "templates": [{"name": "main", **WAIT}]})
    seen = await listener.until(uuid, Status.FAILED)
    assert seen.error is not None
    assert "invalid spec" in seen.error


async def test_one_deleted_behind_our_back_is_gone(
    listener: Listener, kubernetes: Cluster, namespace: str
) -> None:
    uuid = submit(kubernetes, namespace, single(WAIT))
    await listener.until(uuid, Status.RUNNING)
    kubernetes.api.delete(f"{workflows(namespace)}/{uuid}")
    await listener.until(uuid, None)
    assert listener.source.present(uuid, 1) is False
    assert await listener.source.look(uuid, 1) is None


async def test_forgetting_deletes_what_was_seen_and_reports_nothing_more(
    listener: Listener, kubernetes: Cluster, namespace: str
) -> None:
    uuid = submit(kubernetes, namespace, single(AT_ONCE))
    seen = await listener.until(uuid, Status.SUCCESSFUL)
    await listener.source.forget(seen)
    await listener.source.forget(seen)
    assert await listener.source.look(uuid, 1) is None
    later = submit(kubernetes, namespace, single(AT_ONCE))
    await listener.until(later, Status.SUCCESSFUL)
    assert None not in listener.of(uuid)


async def test_forgetting_leaves_a_later_one_of_the_same_name(
    listener: Listener, kubernetes: Cluster, namespace: str
) -> None:
    uuid = submit(kubernetes, namespace, single(AT_ONCE))
    seen = await listener.until(uuid, Status.SUCCESSFUL)
    kept = kubernetes.api.get(f"{workflows(namespace)}/{uuid}")
    kubernetes.api.delete(f"{workflows(namespace)}/{uuid}")
    fresh = {"metadata": {"name": str(uuid), "labels": kept["metadata"]["labels"]}, "spec": single(WAIT)}
    kubernetes.api.create(
        workflows(namespace), {"apiVersion": kept["apiVersion"], "kind": "Workflow", **fresh}
    )
    await listener.source.forget(seen)
    assert kubernetes.api.get(f"{workflows(namespace)}/{uuid}")["spec"]["templates"][0]["suspend"] == {}


async def test_what_is_not_ours_is_neither_reported_nor_touched(
    listener: Listener, argo: Argo, kubernetes: Cluster, namespace: str
) -> None:
    other = argo.submit(namespace, single(WAIT))
    ours = submit(kubernetes, namespace, single(AT_ONCE))
    uuid = submit(kubernetes, namespace, single(WAIT))
    await listener.until(uuid, Status.RUNNING)
    kubernetes.api.patch(
        f"{workflows(namespace)}/{uuid}", {"metadata": {"labels": {"switchyard.dev/action": "stolen"}}}
    )
    await listener.source.stop_execution(uuid, 1, "it is no longer ours")
    await listener.until(ours, Status.SUCCESSFUL)
    assert {seen.uuid for seen in listener.heard} <= {ours, uuid}
    for name in (other, str(uuid)):
        assert "shutdown" not in kubernetes.api.get(f"{workflows(namespace)}/{name}")["spec"]


async def test_two_shards_see_each_its_own(argo: Argo, namespace: str, tmp_path: Path) -> None:
    store, config = local_store(tmp_path), argo.cluster.kubeconfig
    uuids = [submit(argo.cluster, namespace, single(AT_ONCE)) for _ in range(12)]
    shards = [Shard(0, 2), Shard(1, 2)]
    async with (
        listening(source(config, namespace, store, shard=shards[0])) as first,
        listening(source(config, namespace, store, shard=shards[1])) as second,
    ):
        for uuid in uuids:
            owner = first if shards[0].owns(uuid) else second
            assert owner.source.answers_for(uuid, {})
            await owner.until(uuid, Status.SUCCESSFUL)
        assert {s.uuid for s in first.heard}.isdisjoint({s.uuid for s in second.heard})


async def test_a_missing_namespace_is_an_empty_one(argo: Argo, tmp_path: Path) -> None:
    quiet = source(argo.cluster.kubeconfig, "no-such-namespace", local_store(tmp_path))
    async with listening(quiet) as listener:
        await eventually(lambda: quiet.present(uuid4(), 1) is False)
        assert listener.heard == []


async def test_one_that_may_not_list_is_not_ready(
    argo: Argo, kubernetes: Cluster, namespace: str, tmp_path: Path
) -> None:
    token = kubernetes.token(
        "blind", namespace, [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    )
    blind = source(kubernetes.kubeconfig_of(token, "blind"), namespace, local_store(tmp_path))
    async with listening(blind):
        assert blind.present(uuid4(), 1) is None
        assert not await blind.ready()
        with pytest.raises(Transient, match="cannot get resource"):
            await blind.look(uuid4(), 1)
