"""What a source gives: a page of items, and the cursor from which to go on."""

import json
from dataclasses import dataclass
from typing import Any, Protocol

Cursor = dict[str, Any]
Item = dict[str, Any]
REJECTED: Item = {}  # counted, and reported at the end
NUL = "\\u0000"


@dataclass(frozen=True, slots=True)
class Page:
    """Some items in the order of the source; at the end, the last."""

    items: list[Item]
    cursor: Cursor
    last: bool


class Source(Protocol):
    """Pages of items. The same cursor gives the same page, as far as what is read stays the same."""

    def description(self) -> dict[str, Any]:
        """Where the items come from: recorded, and compared when a campaign is continued."""

    def page(self, cursor: Cursor) -> Page:
        """The page at that cursor; the first one for an empty cursor."""


def item(name: object, parameters: object) -> Item:
    """An item of a campaign; REJECTED where the database could not store it as one."""
    if isinstance(name, int) and not isinstance(name, bool):
        name = str(name)
    if not isinstance(name, str) or not 0 < len(name) <= 500 or not isinstance(parameters, dict):
        return REJECTED
    found = {"id": name, "parameters": parameters}
    try:
        text = json.dumps(found, allow_nan=False)
        json.dumps(found, ensure_ascii=False).encode()
    except (ValueError, RecursionError):  # not a number, half a character, too deep
        return REJECTED
    return REJECTED if NUL in text else found
