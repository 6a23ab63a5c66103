"""A STAC Item from a GeoJSON feature: id, box, time and collection, and everything the feature has."""

import re
from datetime import UTC, datetime
from typing import Any

from switchyard.backends.http.template import Naming, Template
from switchyard.backends.stac.bbox import bbox
from switchyard.backends.stac.model import StacAction
from switchyard.handlers import Work

VERSION = "1.0.0"
_NAME = re.compile(r"[^\x00-\x1f\x7f/\\?#\ud800-\udfff]{1,200}")


class ItemError(ValueError):
    """No item can be built from these parameters; the message gives the reason."""


class ItemTemplate:
    """An action's configured item, compiled once."""

    def __init__(self, action: StacAction) -> None:
        self._collection = Template(action.collection, "collection")
        self._id = None if action.item_id is None else Template(action.item_id, "item_id")
        self._datetime = None if action.datetime is None else Template(action.datetime, "datetime")
        given = (self._collection, self._id, self._datetime)
        self._naming = Naming(template for template in given if template is not None)

    def build(self, work: Work) -> dict[str, Any]:
        """The item; ValueError where none can be built from these parameters."""
        feature = _feature(work)
        names = self._naming(work, {})
        properties = feature.get("properties") or {}
        if not isinstance(properties, dict):
            raise ItemError("the feature's properties are not an object")
        own = feature.get("id", properties.get("id"))
        identity = self._id.render(names) if self._id else str(work.uuid) if own is None else own
        moment = self._datetime.render(names) if self._datetime else properties.get("datetime")
        item = {
            "type": "Feature",
            "stac_version": feature.get("stac_version", VERSION),
            "stac_extensions": feature.get("stac_extensions", []),
            "id": _name(identity, "id"),
            "collection": _name(self._collection.render(names), "collection"),
            "geometry": feature.get("geometry"),
            "properties": {**properties, "datetime": _time(moment, work.created_at)},
            "links": feature.get("links", []),
            "assets": feature.get("assets", {}),
        }
        box = bbox(item["geometry"])
        return item if box is None else {**item, "bbox": box}


def _feature(work: Work) -> dict[str, Any]:
    feature = work.parameters.get("item")
    if not isinstance(feature, dict) or feature.get("type") != "Feature":
        raise ItemError("parameters.item is not a GeoJSON Feature")
    return feature


def _name(value: Any, what: str) -> str:
    """Ids become part of a path: nothing that could lead elsewhere in the API."""
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str) or not _NAME.fullmatch(text) or text in (".", ".."):
        raise ItemError(f"the item's {what} is not a string of 1 to 200 characters that a path can hold")
    return text


def _time(value: Any, otherwise: datetime) -> str:
    moment = otherwise
    if value is not None:
        try:
            moment = datetime.fromisoformat(value)
        except (TypeError, ValueError):
            raise ItemError("the item's datetime is not written as RFC 3339 has it") from None
        if moment.tzinfo is None:
            raise ItemError("the item's datetime has no zone")
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
