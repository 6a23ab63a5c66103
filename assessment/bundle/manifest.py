"""The manifest of a bundle version: its contents, its sources, the findings of the quality gate."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from assessment.bundle.schema import LAYERS
from switchyard.errors import ConfigError

FORMAT = 1
FILE = "manifest.json"


@dataclass(frozen=True)
class Finding:
    """A finding of the quality gate: an error prevents the use of a bundle, a warning does not."""

    level: Literal["error", "warning"]
    subject: str
    message: str

    def __str__(self) -> str:
        return f"{self.level}: {self.subject}: {self.message}"


@dataclass(frozen=True)
class LayerEntry:
    features: int
    pieces: int
    vertices: int
    levels: int
    columns: Mapping[str, str]
    source: str
    overlapping: int = 0
    bounds: tuple[float, float, float, float] | None = None


@dataclass(frozen=True)
class Manifest:
    version: str
    built_at: str
    code_version: str
    layers: Mapping[str, LayerEntry]
    tables: Mapping[str, int]
    files: Mapping[str, str] = field(default_factory=dict)
    findings: Sequence[Finding] = ()
    format: int = FORMAT

    def as_json(self) -> str:
        return json.dumps(asdict(self), indent=2) + "\n"


def read(folder: Path) -> Manifest:
    """Read the manifest in a folder; raises ConfigError if it is missing or unreadable."""
    path = folder / FILE
    try:
        data = json.loads(path.read_text())
        return _manifest(data)
    except FileNotFoundError as error:
        raise ConfigError(f"{folder} does not contain a reference bundle") from error
    except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error


def _manifest(data: dict[str, Any]) -> Manifest:
    if data.get("format") != FORMAT:
        raise ValueError(f"format {data.get('format')!r} is not {FORMAT}; rebuild the bundle")
    for name, entry in data["layers"].items():
        missing = LAYERS.get(name, {}).keys() - entry["columns"].keys()
        if missing:
            raise ValueError(f"{name} has no column {', '.join(sorted(missing))}; rebuild the bundle")
    layers = {
        name: LayerEntry(**{**entry, "bounds": tuple(entry["bounds"]) if entry["bounds"] else None})
        for name, entry in data["layers"].items()
    }
    return Manifest(**{**data, "layers": layers, "findings": [Finding(**f) for f in data["findings"]]})
