"""Check a built bundle: files against their hashes, content against the quality gate."""

import json
from pathlib import Path

from assessment.bundle.build import inspect
from assessment.bundle.bundle import LOOKUPS, open_bundle
from assessment.bundle.manifest import Finding


def check(folder: Path) -> list[Finding]:
    """All errors and warnings. The content is checked only if the files are intact."""
    bundle = open_bundle(folder)
    damaged = list(bundle.damaged())
    if damaged:
        return damaged
    tables = json.loads((bundle.folder / LOOKUPS).read_text())
    layers = {name: bundle.layer(name) for name in bundle.manifest.layers}
    return inspect(layers, tables, None)
