"""The manifests that are shown, but not part of the deployment: taken by a real API server, strictly."""

import yaml

from tests.acceptance.docs.blocks import ROOT, blocks
from tests.cluster.deploy.manifests import FOLDER, apply
from tests.parts.argo import Argo
from tests.parts.kubernetes import Cluster


def test_the_autoscaler_and_the_rules_of_its_metrics(kubernetes: Cluster) -> None:
    for document in yaml.safe_load_all((FOLDER / "scaling.yaml").read_text()):
        document["metadata"]["namespace"] = "default"
        assert apply(kubernetes, document, dry=True)["spec" if "spec" in document else "data"]


def test_the_template_of_the_page_on_argo(argo: Argo) -> None:
    shown = [block for block in blocks(ROOT / "docs" / "argo.md") if "kind: WorkflowTemplate" in block.text]
    (template,) = (yaml.safe_load(block.text) for block in shown)
    template["metadata"]["namespace"] = "default"
    (made,) = apply(argo.cluster, template, dry=True)["spec"]["templates"]
    given = {each["name"]: each["value"] for each in made["container"]["env"]}
    places = ("action-uuid", "run", "input", "output", "correlation-id")
    assert given == {
        f"SWITCHYARD_{place.upper().replace('-', '_')}": f"{{{{workflow.parameters.switchyard-{place}}}}}"
        for place in places
    }
