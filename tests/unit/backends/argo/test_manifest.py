"""The Workflow that conductor creates."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchyard.backends.argo.manifest import label_value, manifest
from switchyard.backends.argo.model import ArgoAction
from switchyard.backends.argo.resource import identity
from switchyard.backends.prepare import PreparedWorkflow
from switchyard.config.workflows import Workflow
from switchyard.handlers import Work
from switchyard.places import Places, variables

UUID_ = UUID("0190163d-8694-739b-aea5-966c26f8ad91")


def work(run: int = 1, workflow: str | None = "nutrient") -> Work:
    return Work(
        uuid=UUID_,
        run=run,
        attempt=1,
        last_attempt=False,
        action_name="argo",
        workflow=workflow,
        callback=None,
        parent_uuid=None,
        parameters={},
        correlation_id="c-1",
        created_at=datetime.now(UTC),
    )


def prepared(run: int = 1, **workflow: Any) -> PreparedWorkflow:
    places = Places(UUID_, run)
    return PreparedWorkflow(
        Workflow.model_validate({"action": "argo", **workflow}),
        places,
        variables(places, "c-1", "s3://b/".__add__),
    )


def action(**fields: Any) -> ArgoAction:
    return ArgoAction.model_validate({"namespace": "workflows", **fields})


INLINE = {
    "metadata": {"generateName": "x-", "labels": {"team": "water", "switchyard.dev/shard": "lies"}},
    "spec": {
        "entrypoint": "main",
        "templates": [{"name": "main", "suspend": {}}],
        "ttlStrategy": {"secondsAfterCompletion": 0},
        "podGC": {"strategy": "OnWorkflowSuccess"},
        "arguments": {
            "parameters": [{"name": "own", "value": "1"}, {"name": "switchyard-run", "value": "9"}]
        },
    },
}


def values(body: dict[str, Any]) -> dict[str, str]:
    return {p["name"]: p["value"] for p in body["spec"]["arguments"]["parameters"]}


def test_from_a_template() -> None:
    body = manifest(work(), prepared(template="assess"), action())
    assert body["kind"] == "Workflow"
    assert body["spec"]["workflowTemplateRef"] == {"name": "assess"}
    assert body["metadata"]["labels"] == {
        "switchyard.dev/managed-by": "switchyard",
        "switchyard.dev/action": str(UUID_),
        "switchyard.dev/workflow": "nutrient",
        "switchyard.dev/shard": "17",
    }
    assert values(body) == {
        "switchyard-action-uuid": str(UUID_),
        "switchyard-run": "1",
        "switchyard-input": f"s3://b/executions/{UUID_}/r1/input.json",
        "switchyard-output": f"s3://b/executions/{UUID_}/r1",
        "switchyard-correlation-id": "c-1",
    }


@pytest.mark.parametrize("run", [1, 2, 11])
def test_caboose_knows_it_as_its_own(run: int) -> None:
    assert identity(manifest(work(run), prepared(run, template="assess"), action())) == (UUID_, run)


def test_in_place_our_names_and_clean_up_win_over_the_manifests() -> None:
    body = manifest(work(2), prepared(2, manifest=INLINE), action(labels={"cost": "7"}))
    assert body["metadata"]["name"] == f"{UUID_}-r2"
    assert "generateName" not in body["metadata"]
    labels = body["metadata"]["labels"]
    assert (labels["team"], labels["cost"], labels["switchyard.dev/shard"]) == ("water", "7", "17")
    assert body["spec"]["podGC"] == {"strategy": "OnPodCompletion"}
    assert min(body["spec"]["ttlStrategy"].values()) > 365 * 24 * 3600
    assert len(body["spec"]["ttlStrategy"]) == 3
    assert (values(body)["own"], values(body)["switchyard-run"]) == ("1", "2")
    assert INLINE["metadata"]["generateName"] == "x-", "the configuration is left as it was"  # type: ignore[index]


def test_the_actions_template_scope_and_account_apply() -> None:
    body = manifest(work(), prepared(), action(template="t", cluster_scope=True, service_account="runner"))
    assert body["spec"]["workflowTemplateRef"] == {"name": "t", "clusterScope": True}
    assert body["spec"]["serviceAccountName"] == "runner"


def test_nothing_to_run_is_reported() -> None:
    with pytest.raises(ValueError, match="neither"):
        manifest(work(), prepared(), action())


@given(st.text(min_size=1, max_size=200))
def test_a_label_is_always_one_that_kubernetes_takes(text: str) -> None:
    value = label_value(text)
    assert len(value) <= 63
    assert value[0].isalnum()
    assert value[-1].isalnum()
    assert all(c.isascii() and (c.isalnum() or c in "-_.") for c in value)


def test_long_names_stay_apart() -> None:
    assert label_value("a" * 100) != label_value("a" * 101)
    assert label_value("plain-name") == "plain-name"
