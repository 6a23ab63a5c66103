"""The interface of a source: a page of items, and the cursor for the next page."""

import json
from dataclasses import dataclass
from typing import Any, Protocol

Cursor = dict[str, Any]
Item = dict[str, Any]
REJECTED: Item = {}  # counted, and reported at the end
NUL = "\\u0000"


@dataclass(frozen=True, slots=True)
class Page:
    """Some items in the order of the source; `last` marks the last page."""

    items: list[Item]
    cursor: Cursor
    last: bool


class Source(Protocol):
    """Pages of items. The same cursor gives the same page as long as the source is unchanged."""

    def description(self) -> dict[str, Any]:
        """The origin of the items: recorded, and compared when a campaign is continued."""

    def page(self, cursor: Cursor) -> Page:
        """The page at that cursor; the first page for an empty cursor."""


def item(name: object, parameters: object) -> Item:
    """An item of a campaign; REJECTED if the database could not store it."""
    if isinstance(name, int) and not isinstance(name, bool):
        name = str(name)
    if not isinstance(name, str) or not 0 < len(name) <= 500 or not isinstance(parameters, dict):
        return REJECTED
    found = {"id": name, "parameters": parameters}
    try:
        text = json.dumps(found, allow_nan=False)
        json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError):  # not a number, half of a surrogate pair, nested too deeply
        return REJECTED
    return REJECTED if NUL in text else found
