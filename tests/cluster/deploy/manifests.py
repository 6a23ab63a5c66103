"""The deployment as kustomize builds it, and as a real API server takes it."""

import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.parts.golang import KUSTOMIZE
from tests.parts.kubeapi import Object
from tests.parts.kubernetes import Cluster

FOLDER = Path(__file__).parents[3] / "config" / "kubernetes"


def built() -> list[Object]:
    """Every object of `kubectl apply -k config/kubernetes`, in its order."""
    done = subprocess.run([KUSTOMIZE.binary(), "build", FOLDER], capture_output=True, text=True, check=True)
    return [document for document in yaml.safe_load_all(done.stdout) if document]


def apply(cluster: Cluster, document: Object, *, dry: bool = False) -> Object:
    """Server-side apply, strict about fields that nobody knows."""
    query = {"fieldManager": "test", "force": "true", "fieldValidation": "Strict"}
    return cluster.api.apply(_path(document), document, {**query, "dryRun": "All"} if dry else query)


def find(documents: list[Object], kind: str, name: str) -> Object:
    """The one of that kind and name."""
    (found,) = (d for d in documents if (d["kind"], d["metadata"]["name"]) == (kind, name))
    return found


def containers(document: Object) -> list[dict[str, Any]]:
    """The containers of a Deployment or a Job."""
    found: list[dict[str, Any]] = document["spec"]["template"]["spec"]["containers"]
    return found


def _path(document: Object) -> str:
    version, kind, metadata = document["apiVersion"], document["kind"].lower(), document["metadata"]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    plural = f"{kind[:-1]}ies" if kind.endswith("y") else f"{kind}es" if kind.endswith("s") else f"{kind}s"
    where = f"/namespaces/{metadata['namespace']}" if "namespace" in metadata else ""
    return f"{root}{where}/{plural}/{metadata['name']}"
