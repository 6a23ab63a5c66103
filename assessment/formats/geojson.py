"""GeoJSON. Without a `crs` member it is in longitude and latitude, as RFC 7946 has it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
import shapely
from shapely.geometry import shape

from assessment.formats.source import Batch
from switchyard.errors import BadInput

DEFAULT_CRS = "OGC:CRS84"
_MALFORMED = (
    ValueError,
    OverflowError,
    TypeError,
    IndexError,
    KeyError,
    AttributeError,
    RecursionError,
    shapely.errors.ShapelyError,
)


class GeoJson:
    """A FeatureCollection, or a single Feature, held in memory."""

    def __init__(self, content: bytes) -> None:
        document = _parse(content)
        self._features = _features(document)
        if not self._features:
            raise BadInput("the file has no features")
        self.crs: str | None = _crs(document)
        self.fields: Sequence[str] = list(dict.fromkeys(k for f in self._features for k in _properties(f)))

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        geometry = np.empty(len(self._features), dtype=object)
        for k, feature in enumerate(self._features):
            geometry[k] = _geometry(feature, k + 1)
        properties = [_properties(feature) for feature in self._features]
        yield Batch(geometry, {column: [p.get(column) for p in properties] for column in columns})


def _parse(content: bytes) -> Any:
    try:
        return json.loads(content.decode("utf-8-sig"), parse_constant=_no_number)
    except UnicodeDecodeError as error:
        raise BadInput(f"the GeoJSON is not UTF-8: byte {error.start} is wrong") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"the file is not JSON: {error}") from error


def _no_number(token: str) -> NoReturn:
    raise BadInput(f"the GeoJSON has {token} as a number")


def _features(document: Any) -> list[Mapping[str, Any]]:
    kind = document.get("type") if isinstance(document, dict) else None
    if kind == "Feature":
        return [document]
    found = document.get("features") if kind == "FeatureCollection" else None
    if not isinstance(found, list) or not all(isinstance(feature, dict) for feature in found):
        raise BadInput("the JSON is not a GeoJSON FeatureCollection")
    return found


def _crs(document: Mapping[str, Any]) -> str | None:
    """The old `crs` member; null means that the system is unknown."""
    if "crs" not in document:
        return DEFAULT_CRS
    member = document["crs"]
    if member is None:
        return None
    try:
        return str(member["properties"]["name"])
    except (TypeError, KeyError) as error:
        raise BadInput("the GeoJSON's crs member names no coordinate system") from error


def _properties(feature: Mapping[str, Any]) -> dict[str, Any]:
    """A feature's own id is used if its properties have none."""
    found = feature.get("properties")
    own = {"id": feature["id"]} if "id" in feature else {}
    return {**own, **found} if isinstance(found, dict) else own


def _geometry(feature: Mapping[str, Any], number: int) -> shapely.Geometry | None:
    member = feature.get("geometry")
    if member is None:
        return None
    try:
        return shapely.force_2d(shape(member))
    except _MALFORMED as error:
        raise BadInput(f"feature {number}: the geometry cannot be read: {error}") from error
