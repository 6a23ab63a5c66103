"""A reference bundle, opened for reading; layers are mapped when they are first used."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from assessment.bundle import manifest as manifests
from assessment.bundle import versions
from assessment.bundle.layer import Layer, open_layer
from assessment.bundle.lookups import Lookups, lookups
from assessment.bundle.manifest import Manifest
from assessment.bundle.schema import NEEDS, TABLES
from switchyard.errors import BadInput

LOOKUPS = "lookups.json"


@dataclass(frozen=True)
class Bundle:
    folder: Path
    manifest: Manifest
    _layers: dict[str, Layer] = field(default_factory=dict, compare=False, repr=False)

    @property
    def version(self) -> str:
        return self.manifest.version

    def has(self, name: str) -> bool:
        return name in self.manifest.layers

    def layer(self, name: str) -> Layer:
        if name not in self._layers:
            entry = self.manifest.layers[name]
            self._layers[name] = open_layer(self.folder / name, name, entry.columns, entry.levels)
        return self._layers[name]

    @cached_property
    def lookups(self) -> Lookups:
        tables: Mapping[str, list[dict[str, object]]] = json.loads((self.folder / LOOKUPS).read_text())
        return lookups(tables.get("WwTw_lookup", []), tables.get("rates_lookup", []))

    def require(self, assessment: str) -> None:
        """A BadInput that names what is missing for an assessment of this kind."""
        missing = [name for name in NEEDS[assessment] if not self.has(name)]
        if assessment == "nutrient":
            missing += [name for name in TABLES if name not in self.manifest.tables]
        if missing:
            raise BadInput(
                f"bundle {self.version} cannot do a {assessment} assessment: no {', '.join(missing)}"
            )


def open_bundle(place: Path | str) -> Bundle:
    """A version's folder, or a bundle's folder, whose current version is taken."""
    path = Path(str(place).removeprefix("file://"))
    folder = versions.current(path) or path
    return Bundle(folder, manifests.read(folder))
