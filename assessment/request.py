"""A request in JSON: the parameters of an action, or the body of a job message.

The fields are those of the job message: assessment, edition, mode, input, bundle, layer, ponds, formats.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from assessment import editions
from assessment.output.formats import formats_of
from assessment.spec import CHUNK, Assessment, JobSpec, Mode
from switchyard.errors import BadInput

INLINE_LIMIT = 262_144
"""The largest GeoJSON inside a request, in bytes: the limit of a message."""


@dataclass(frozen=True)
class Given:
    """The location of an input: a key in the store, a URL, or the GeoJSON itself."""

    key: str | None = None
    url: str | None = None
    geojson: bytes | None = None


@dataclass(frozen=True)
class Request:
    job: JobSpec
    sites: Given | None
    ponds: Given | None
    bundle: str | None
    formats: Sequence[str]
    layer: str | None = None


def parse(content: Mapping[str, Any]) -> Request:
    """Parse the JSON of a request; BadInput with the reason if it is invalid."""
    return Request(
        job=job_spec(content.get("assessment", "nutrient"), content.get("mode"), content.get("edition")),
        sites=_given(content.get("input"), "input"),
        ponds=_given(content.get("ponds"), "ponds"),
        bundle=_text(content, "bundle"),
        formats=formats_of(_names(content.get("formats", ["csv"]))),
        layer=_text(content, "layer"),
    )


def job_spec(
    assessment: object, mode: object = None, edition: object = None, chunk_size: int = CHUNK
) -> JobSpec:
    """Validate values from outside and return a JobSpec."""
    kind: Assessment | None = next((k for k in get_args(Assessment) if k == assessment), None)
    how: Mode | None = next((m for m in get_args(Mode) if m == (mode or "default")), None)
    if kind is None:
        raise BadInput(f"assessment {assessment!r} is not known; there are {', '.join(get_args(Assessment))}")
    if how is None:
        raise BadInput(f"mode {mode!r} is not known; there are {', '.join(get_args(Mode))}")
    if edition is not None and not isinstance(edition, str):
        raise BadInput(f"edition {edition!r} is not a name")
    return JobSpec(kind, editions.load(edition), how, chunk_size)


def _given(member: Any, name: str) -> Given | None:
    if member is None:
        return None
    known = ("key", "url", "geojson")
    if not isinstance(member, dict) or sum(member.get(name) is not None for name in known) != 1:
        raise BadInput(f"{name} must have exactly one of key, url and geojson")
    if member.get("geojson") is not None:
        inline = json.dumps(member["geojson"]).encode()
        if len(inline) > INLINE_LIMIT:
            raise BadInput(
                f"{name} has {len(inline):,} bytes of GeoJSON; at most {INLINE_LIMIT:,} are taken inline"
            )
        return Given(geojson=inline)
    return Given(key=_text(member, "key"), url=_text(member, "url"))


def _text(content: Mapping[str, Any], name: str) -> str | None:
    value = content.get(name)
    if value is not None and not isinstance(value, str):
        raise BadInput(f"{name} must be a text, not {value!r}")
    return value


def _names(value: Any) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise BadInput("formats must be a list of names")
    return value
