"""The argo handler against the real API server: everything that can come of a create, told apart."""

import json
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from switchyard.backends.argo.handler import ArgoHandler
from switchyard.backends.argo.resource import workflows
from switchyard.handlers import Failed, HandedOver, HandlerContext, Invalid, Retry
from tests.cluster.argo.dispatching import SUSPEND, context, handler, work
from tests.cluster.interceptor import Fault, Interceptor
from tests.parts.argo import Argo
from tests.parts.kubernetes import Cluster
from tests.waiting import until


@pytest.fixture
def between(kubernetes: Cluster, argo: Argo) -> Iterator[Interceptor]:
    with Interceptor(kubernetes) as interceptor:
        yield interceptor


@pytest.fixture
def made(between: Interceptor, kubernetes: Cluster, namespace: str, tmp_path: Path) -> HandlerContext:
    return context(tmp_path, between.kubeconfig(tmp_path, kubernetes.admin_token), namespace)


@pytest.fixture
async def argo_handler(made: HandlerContext) -> AsyncIterator[ArgoHandler]:
    handling = handler(made)
    await handling.start()
    yield handling
    await handling.close()


def there(kubernetes: Cluster, namespace: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = kubernetes.api.get(workflows(namespace))["items"]
    return items


async def test_a_workflow_is_created_with_its_input_in_its_place(
    argo_handler: ArgoHandler, made: HandlerContext, kubernetes: Cluster, namespace: str
) -> None:
    job = work(run=2, site="broads")
    outcome = await argo_handler.dispatch(job)
    assert outcome == HandedOver({"workflow": f"{job.uuid}-r2", "namespace": namespace})
    [workflow] = there(kubernetes, namespace)
    assert workflow["metadata"]["name"] == f"{job.uuid}-r2"
    given = {p["name"]: p["value"] for p in workflow["spec"]["arguments"]["parameters"]}
    assert given["switchyard-action-uuid"] == str(job.uuid)
    assert json.loads(made.store.get(f"executions/{job.uuid}/r2/input.json")) == {"site": "broads"}


async def test_already_there_and_ours_is_handed_over(
    argo_handler: ArgoHandler, kubernetes: Cluster, namespace: str
) -> None:
    job = work()
    await argo_handler.dispatch(job)
    assert isinstance(await argo_handler.dispatch(job), HandedOver)
    assert len(there(kubernetes, namespace)) == 1


async def test_already_there_and_not_ours_is_failed(
    argo_handler: ArgoHandler, argo: Argo, namespace: str
) -> None:
    job = work()
    argo.submit(namespace, SUSPEND, str(job.uuid))
    outcome = await argo_handler.dispatch(job)
    assert isinstance(outcome, Failed)
    assert "not ours" in outcome.error


async def test_a_full_quota_is_retried_but_what_is_there_is_found(
    argo_handler: ArgoHandler, kubernetes: Cluster, namespace: str
) -> None:
    kubernetes.quota(namespace, "count/workflows.argoproj.io", 1)
    first = work()
    assert isinstance(await argo_handler.dispatch(first), HandedOver)
    assert isinstance(await argo_handler.dispatch(first), HandedOver), "403 too, but it is there"
    refused = await argo_handler.dispatch(work())
    assert isinstance(refused, Retry)
    assert "exceeded quota" in refused.error
    assert refused.detail["status"] == 403
    assert refused.refused, "it spends no attempt"


@pytest.mark.parametrize("scope", [False, True])
async def test_a_missing_template_is_named(
    made: HandlerContext, kubernetes: Cluster, namespace: str, tmp_path: Path, scope: bool
) -> None:
    kubeconfig = made.config.actions["argo"].kubeconfig
    handling = handler(context(tmp_path, kubeconfig, namespace, template="no-such"), cluster_scope=scope)
    outcome = await handling.dispatch(work())
    assert isinstance(outcome, Failed)
    assert 'WorkflowTemplate "no-such"' in outcome.error
    assert there(kubernetes, namespace) == []
    await handling.close()


@pytest.mark.parametrize("workflow", [{"template": "any"}, {"manifest": {"spec": SUSPEND}}])
async def test_a_missing_namespace_is_named(
    made: HandlerContext, tmp_path: Path, workflow: dict[str, Any]
) -> None:
    kubeconfig = made.config.actions["argo"].kubeconfig
    handling = handler(context(tmp_path, kubeconfig, "no-such-namespace", **workflow))
    outcome = await handling.dispatch(work())
    assert outcome == Failed('there is no namespace "no-such-namespace"', {"status": 404})
    await handling.close()


async def test_a_namespace_that_goes_away_is_failed(
    argo_handler: ArgoHandler, kubernetes: Cluster, namespace: str
) -> None:
    kubernetes.api.delete(f"/api/v1/namespaces/{namespace}")
    outcome = await argo_handler.dispatch(work())
    assert isinstance(outcome, Failed)
    assert "being deleted" in outcome.error


async def test_a_missing_definition_is_named(tmp_path: Path) -> None:
    bare = Cluster()
    try:
        handling = handler(context(tmp_path, bare.kubeconfig, bare.namespace()))
        outcome = await handling.dispatch(work())
        await handling.close()
    finally:
        bare.close()
    assert isinstance(outcome, Failed)
    assert "CRD" in outcome.error


async def test_what_kubernetes_does_not_take_is_invalid(
    made: HandlerContext, namespace: str, tmp_path: Path
) -> None:
    kubeconfig = made.config.actions["argo"].kubeconfig
    manifest = {"metadata": {"labels": {"team": "no label!"}}, "spec": SUSPEND}
    handling = handler(context(tmp_path, kubeconfig, namespace, manifest=manifest))
    outcome = await handling.dispatch(work())
    assert isinstance(outcome, Invalid)
    assert "metadata.labels" in outcome.error
    await handling.close()


async def test_a_401_reloads_the_token_from_its_file(
    argo_handler: ArgoHandler, made: HandlerContext, kubernetes: Cluster, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("expired")
    handling = handler(made)
    await handling.start()
    refused = await handling.dispatch(work())
    assert isinstance(refused, Retry)
    assert refused.detail["status"] == 401
    (tmp_path / "token").write_text(kubernetes.admin_token)
    assert isinstance(await handling.dispatch(work()), HandedOver)
    await handling.close()


async def test_a_forbidden_account_is_reported_and_retried(
    between: Interceptor, kubernetes: Cluster, namespace: str, tmp_path: Path
) -> None:
    token = kubernetes.token(
        "weak", namespace, [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    )
    handling = handler(context(tmp_path, between.kubeconfig(tmp_path, token), namespace))
    outcome = await handling.dispatch(work())
    assert isinstance(outcome, Retry)
    assert "cannot create resource" in outcome.error
    await handling.close()


@pytest.mark.parametrize("status", [408, 429, 500, 503, 504, None])
async def test_after_a_doubtful_answer_what_went_through_is_found(
    argo_handler: ArgoHandler, between: Interceptor, kubernetes: Cluster, namespace: str, status: int | None
) -> None:
    between.inject(Fault("POST", "/workflows", status, passed=True))
    assert isinstance(await argo_handler.dispatch(work()), HandedOver)
    assert len(there(kubernetes, namespace)) == 1
    assert between.count("POST", 201) == 1


@pytest.mark.parametrize(("status", "delay"), [(429, 7.0), (503, None), (500, None), (None, None)])
async def test_what_did_not_go_through_is_retried(
    argo_handler: ArgoHandler, between: Interceptor, status: int | None, delay: float | None
) -> None:
    headers = {"Retry-After": "7"} if delay else {}
    between.inject(Fault("POST", "/workflows", status, headers=headers))
    job = work(last=True)
    outcome = await argo_handler.dispatch(job)
    assert isinstance(outcome, Retry), (
        "looked for and surely not there: not handed over, even at the last attempt"
    )
    assert outcome.delay == delay
    assert outcome.detail == ({} if status is None else {"status": status})
    assert isinstance(await argo_handler.dispatch(job), HandedOver)


async def test_a_create_that_times_out_is_looked_for(
    made: HandlerContext, between: Interceptor, kubernetes: Cluster, namespace: str
) -> None:
    handling = handler(made, timeout="16s")
    between.inject(Fault("POST", "/workflows", 200, passed=True, hang=120))
    assert isinstance(await handling.dispatch(work()), HandedOver)
    await handling.close()
    assert len(there(kubernetes, namespace)) == 1


@pytest.mark.parametrize("last", [False, True])
async def test_still_unknown_is_retried_and_at_the_last_attempt_handed_over(
    argo_handler: ArgoHandler, between: Interceptor, last: bool
) -> None:
    between.inject(Fault("POST", "/workflows", None))
    between.inject(Fault("GET", "/workflows/", 503))
    outcome = await argo_handler.dispatch(work(last=last))
    assert isinstance(outcome, HandedOver if last else Retry)
    if last:
        assert "unconfirmed" in outcome.detail


async def test_what_cannot_be_prepared_is_invalid(argo_handler: ArgoHandler) -> None:
    outcome = await argo_handler.dispatch(replace(work(), workflow="nobody"))
    assert outcome == Invalid("the configuration has no workflow 'nobody'")


async def test_a_template_is_looked_up_once_and_doubt_about_it_is_not_a_failure(
    made: HandlerContext, between: Interceptor, kubernetes: Cluster, namespace: str, tmp_path: Path
) -> None:
    templates = f"/apis/argoproj.io/v1alpha1/namespaces/{namespace}/workflowtemplates"
    body = {"apiVersion": "argoproj.io/v1alpha1", "kind": "WorkflowTemplate", "spec": SUSPEND}
    kubernetes.api.create(templates, {**body, "metadata": {"name": "waits"}})
    kubeconfig = made.config.actions["argo"].kubeconfig
    handling = handler(context(tmp_path, kubeconfig, namespace, template="waits"))
    for status, sent in ((None, True), (403, False), (404, True)):
        between.inject(Fault("GET", "/workflowtemplates/", status, times=2 if status is None else 1))
        outcome = await handling.dispatch(work())
        assert isinstance(outcome, Failed if status == 404 else Retry), outcome
        assert getattr(outcome, "sent", True) is sent
    for _ in range(2):
        assert isinstance(await handling.dispatch(work()), HandedOver)
    assert [path for _, path, _ in between.answers].count(f"{templates}/waits") == 1
    await handling.close()


async def test_a_missing_template_is_named_also_where_the_namespace_cannot_be_asked_for(
    made: HandlerContext, between: Interceptor, namespace: str, tmp_path: Path
) -> None:
    kubeconfig = made.config.actions["argo"].kubeconfig
    handling = handler(context(tmp_path, kubeconfig, namespace, template="no-such"))
    between.inject(Fault("POST", "/workflows", None))
    outcome = await handling.dispatch(work())
    assert isinstance(outcome, Failed)
    assert 'WorkflowTemplate "no-such"' in outcome.error
    await handling.close()


async def test_an_answer_that_no_api_server_gives(argo_handler: ArgoHandler, between: Interceptor) -> None:
    """Something in between answers: certain where it says no, doubtful where it says yes."""
    between.inject(Fault("POST", "/workflows", 405))
    refused = await argo_handler.dispatch(work())
    assert (type(refused), refused.detail) == (Failed, {"status": 405})
    between.inject(Fault("POST", "/workflows", 200))
    strange = await argo_handler.dispatch(work())
    assert isinstance(strange, Retry)
    assert "no JSON object, but b'injected'" in strange.error


async def test_a_template_that_would_delete_it_too_early_does_not(
    made: HandlerContext, argo: Argo, kubernetes: Cluster, namespace: str, tmp_path: Path
) -> None:
    spec = {
        "entrypoint": "main",
        "templates": [{"name": "main", "suspend": {"duration": "0"}}],
        "ttlStrategy": {"secondsAfterCompletion": 0, "secondsAfterSuccess": 0},
        "podGC": {"strategy": "OnWorkflowSuccess"},
    }
    argo.make_template(namespace, "hasty", spec)
    kubeconfig = made.config.actions["argo"].kubeconfig
    handling = handler(context(tmp_path, kubeconfig, namespace, template="hasty"))
    ours, other = work(), "other"
    assert isinstance(await handling.dispatch(ours), HandedOver)
    argo.submit(namespace, {"workflowTemplateRef": {"name": "hasty"}}, other)
    argo.until_phase(namespace, str(ours.uuid), "Succeeded")
    names = until_gone(kubernetes, namespace, other)
    assert names == [str(ours.uuid)], "Argo deletes the template's own, and keeps ours for the archive"
    await handling.close()


def until_gone(kubernetes: Cluster, namespace: str, name: str) -> list[str]:
    """The names of what is left once that one is deleted."""

    def left() -> list[str] | None:
        names = [w["metadata"]["name"] for w in there(kubernetes, namespace)]
        return None if name in names else names

    found = until(left, every=0.2)
    assert found is not None
    return found
