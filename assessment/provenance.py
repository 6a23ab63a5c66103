"""The provenance of a result: everything needed to reproduce it."""

from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from assessment.bundle.bundle import Bundle
from assessment.formats.detect import files_of
from assessment.spec import JobSpec
from switchyard import __version__


def hash_of(path: Path) -> str:
    """The SHA-256 of an input file; of an unpacked shapefile, of its .shp, .dbf, .prj and .cpg in a row."""
    content = sha256()
    for part in files_of(path):
        with part.open("rb") as file:
            while block := file.read(2**20):
                content.update(block)
    return content.hexdigest()


def provenance(job: JobSpec, bundle: Bundle, inputs: Mapping[str, str]) -> dict[str, Any]:
    """The provenance of a result; `inputs` has the SHA-256 of each file by role (sites, ponds)."""
    return {
        "assessment": job.assessment,
        "mode": job.mode,
        "edition": job.edition.name,
        "edition_date": job.edition.date,
        "rules": job.edition.as_data(),
        "bundle": bundle.version,
        "bundle_built_at": bundle.manifest.built_at,
        "code_version": __version__,
        "input_sha256": inputs.get("sites"),
        **({"ponds_sha256": inputs["ponds"]} if "ponds" in inputs else {}),
        "assessed_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }
