"""output.json, from which callbacks are made."""

import json
from collections.abc import Sequence
from typing import Any

from assessment.output import geojson
from assessment.results import Results

VERSION = 1


def document(results: Results, files: Sequence[dict[str, Any]]) -> bytes:
    """The summary, features in longitude and latitude, the written files, and the provenance."""
    content = {
        "version": VERSION,
        "assessment": results.assessment,
        "summary": dict(results.summary),
        "features": geojson.features(results.main),
        "files": list(files),
        "provenance": dict(results.provenance),
        "warnings": list(results.warnings),
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1).encode() + b"\n"
