"""A reference bundle, opened for reading; layers are memory-mapped on first use.

Unreadable content is a ConfigError: the operator has to repair it, and no upload is to blame.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from assessment.bundle import manifest as manifests
from assessment.bundle import versions
from assessment.bundle.layer import Layer, open_layer
from assessment.bundle.lookups import Lookups, lookups
from assessment.bundle.manifest import Finding, Manifest
from assessment.bundle.npy import digest
from assessment.bundle.schema import NEEDS
from switchyard.errors import BadInput, ConfigError

LOOKUPS = "lookups.json"
Tables = Mapping[str, list[dict[str, object]]]


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
            try:
                opened = open_layer(self.folder / name, name, entry.columns, entry.levels)
                opened.check(entry.features, entry.pieces, entry.vertices)
            except (OSError, ValueError, LookupError, TypeError, EOFError) as error:
                raise self._unreadable(name, error) from error
            self._layers[name] = opened
        return self._layers[name]

    @cached_property
    def lookups(self) -> Lookups:
        try:
            tables: Tables = json.loads((self.folder / LOOKUPS).read_text())
            _check(tables, self.manifest.tables)
            return lookups(tables.get("WwTw_lookup", []), tables.get("rates_lookup", []))
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise self._unreadable(LOOKUPS, error) from error

    def verify(self) -> None:
        """Read and map all files, about a second per gigabyte, so that no file is found missing later."""
        for finding in self.damaged():
            raise self._unreadable(finding.subject, finding.message)
        for name in self.manifest.layers:
            self.layer(name)
        _ = self.lookups

    def damaged(self) -> Iterator[Finding]:
        """Findings about files that differ from what was built."""
        for name, expected in self.manifest.files.items():
            try:
                if digest(self.folder / name) != expected:
                    yield Finding("error", name, "is not what was built: its hash differs")
            except FileNotFoundError:
                yield Finding("error", name, "is missing")
            except OSError as error:
                yield Finding("error", name, f"cannot be read: {error.strerror or error}")

    def _unreadable(self, what: str, why: object) -> ConfigError:
        said = " ".join(str(why).replace(str(self.folder), "").split())
        return ConfigError(f"the bundle {self.folder} is damaged: {what}: {said}; build or copy it again")

    def missing(self, assessment: str) -> list[str]:
        """The layers and tables that this kind of assessment needs and the bundle lacks."""
        return [name for name in NEEDS[assessment] if not self.has(name) and name not in self.manifest.tables]

    def require(self, assessment: str) -> None:
        """Raise BadInput if the bundle has no data for this kind of assessment.

        If it has only part of the data, the bundle was built incompletely: a ConfigError.
        """
        missing = self.missing(assessment)
        if not missing:
            return
        said = f"bundle {self.version} cannot do a {assessment} assessment: no {', '.join(missing)}"
        if len(missing) == len(NEEDS[assessment]):
            raise BadInput(said)
        raise ConfigError(f"{said}; build it with all of its layers and tables")


def _check(tables: Tables, counts: Mapping[str, int]) -> None:
    """Raise ValueError or LookupError if the tables do not match the counts in the manifest."""
    for name, count in counts.items():
        if len(tables[name]) != count:
            raise ValueError(f"{name} has {len(tables[name]):,} rows instead of {count:,}")


def open_bundle(place: Path | str) -> Bundle:
    """Open the version in this folder, or the current version if this is a bundle's folder."""
    path = Path(str(place).removeprefix("file://"))
    folder = versions.current(path) or path
    return Bundle(folder, manifests.read(folder))
