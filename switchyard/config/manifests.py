"""An Argo Workflow written in place, or in a YAML or JSON file beside the configuration."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator, ValidationInfo, WithJsonSchema

from switchyard.config.document import read_document
from switchyard.errors import ConfigError


@dataclass(frozen=True)
class Manifest:
    """A Workflow resource; name, namespace and our labels are set when it is created."""

    document: Mapping[str, Any]
    path: str | None = field(default=None, compare=False)


def read_manifest(value: Any, info: ValidationInfo) -> Manifest:
    """From a path (relative to the context's `folder`) or a mapping."""
    if isinstance(value, Manifest):
        return value
    if isinstance(value, str):
        folder = (info.context or {}).get("folder") or Path()
        try:
            return _checked(read_document(Path(folder) / value).data, value)
        except ConfigError as error:
            raise ValueError(str(error)) from None
    return _checked(value, None)


def _checked(document: Any, path: str | None) -> Manifest:
    if not isinstance(document, dict):
        raise ValueError("a manifest is a Workflow written in place, or the path of its YAML or JSON file")  # noqa: TRY004 - pydantic collects ValueErrors
    if document.get("kind", "Workflow") != "Workflow":
        raise ValueError("a manifest is of kind Workflow")
    spec = document.get("spec")
    if not isinstance(spec, dict) or not ("templates" in spec or "workflowTemplateRef" in spec):
        raise ValueError("a manifest has a spec with templates")
    return Manifest(document, path)


ManifestFile = Annotated[
    Manifest,
    PlainValidator(read_manifest),
    PlainSerializer(lambda manifest: manifest.document),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}]}),
]
