"""Interim results, one chunk of sites at a time, so that a stopped job resumes instead of restarting.

A chunk is stored under a fingerprint of everything its result depends on: its sites, the bundle, the edition,
the mode and the code. Only chunks with the same fingerprint are reused, so no stale chunk gets into a result.
"""

import json
from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any, Protocol

import shapely

from assessment.bundle.bundle import Bundle
from assessment.nutrient.facts import Facts
from assessment.sites import Sites
from assessment.spec import JobSpec
from switchyard import __version__

FORMAT = 1


class Chunks(Protocol):
    """Storage for interim results."""

    def load(self, name: str) -> bytes | None:
        """The content saved under the name, or None."""

    def save(self, name: str, content: bytes) -> None:
        """Store the content durably before returning."""


def parts(count: int, size: int) -> Iterator[tuple[int, int]]:
    """The (start, stop) of each chunk."""
    return ((start, min(start + size, count)) for start in range(0, count, size))


def name_of(part: Sites, job: JobSpec, bundle: Bundle) -> str:
    """The fingerprint of a chunk, as a file name."""
    depends = {
        "format": FORMAT,
        "assessment": job.assessment,
        "edition": job.edition.as_data(),
        "mode": job.mode,
        "bundle": bundle.version,
        "code": __version__,
        "numbers": part.number,
        "dwellings": part.dwellings,
        "sites": sha256(b"".join(shapely.to_wkb(part.geometry))).hexdigest(),
    }
    digest = sha256(json.dumps(depends, sort_keys=True).encode()).hexdigest()
    return f"{part.number[0]:06d}-{digest[:24]}.json"


def dump(facts: Sequence[Facts]) -> bytes:
    return json.dumps([fact.as_data() for fact in facts]).encode()


def parse(content: bytes | None, count: int) -> list[Facts] | None:
    """The facts of a saved chunk; None if it is missing or unreadable, so that it is computed again."""
    if content is None:
        return None
    try:
        data: list[dict[str, Any]] = json.loads(content)
        facts = [Facts.from_data(entry) for entry in data]
    except (ValueError, TypeError, KeyError):
        return None
    return facts if len(facts) == count else None
