"""Checks a bundle again: files against their hashes, content against the quality gate."""

import json
from collections.abc import Iterator
from pathlib import Path

from assessment.bundle.build import inspect
from assessment.bundle.bundle import LOOKUPS, Bundle, open_bundle
from assessment.bundle.manifest import Finding
from assessment.bundle.npy import digest


def check(folder: Path) -> list[Finding]:
    """Errors and warnings. The content is checked only if the files are intact."""
    bundle = open_bundle(folder)
    damaged = list(_damaged(bundle))
    if damaged:
        return damaged
    tables = json.loads((bundle.folder / LOOKUPS).read_text())
    layers = {name: bundle.layer(name) for name in bundle.manifest.layers}
    return inspect(layers, tables, None)


def _damaged(bundle: Bundle) -> Iterator[Finding]:
    for name, expected in bundle.manifest.files.items():
        path = bundle.folder / name
        if not path.is_file():
            yield Finding("error", name, "is missing")
        elif digest(path) != expected:
            yield Finding("error", name, "is not what was built: its hash differs")
