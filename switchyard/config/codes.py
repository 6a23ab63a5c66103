"""Sets of HTTP status codes: `404`, `200-299`, or a list of both."""

import re
from dataclasses import dataclass, field
from itertools import chain
from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

PATTERN = r"^[1-5][0-9][0-9](-[1-5][0-9][0-9])?$"
_HINT = "a status is written like 404 or 200-299, or a list of these"


@dataclass(frozen=True, slots=True)
class Codes:
    """Spans of codes, in the order written; `code in codes` asks."""

    spans: tuple[range, ...]
    _all: frozenset[int] = field(init=False, repr=False, compare=False)  # every answer is looked up here

    def __post_init__(self) -> None:
        object.__setattr__(self, "_all", frozenset(chain.from_iterable(self.spans)))

    def __contains__(self, code: object) -> bool:
        return isinstance(code, int) and code in self._all

    def written(self) -> list[int | str]:
        """As it would be written in the file."""
        return [span[0] if len(span) == 1 else f"{span[0]}-{span[-1]}" for span in self.spans]


def parse_codes(value: Any) -> Codes:
    """From an int, a range, a list of them, or what is already a set."""
    if isinstance(value, Codes):
        return value
    items = value if isinstance(value, list | tuple) else [value]
    if not items:
        raise ValueError(f"the list is empty: {_HINT}")
    return Codes(tuple(_span(item) for item in items))


def _span(item: Any) -> range:
    text = str(item).strip() if isinstance(item, int | str) and not isinstance(item, bool) else ""
    if re.fullmatch(r"[1-5]xx", text):
        raise ValueError(f"write {text[0]}00-{text[0]}99 instead of {text}")
    if not re.fullmatch(PATTERN, text, re.ASCII):
        raise ValueError(_HINT)
    low, _, high = text.partition("-")
    if high and int(high) < int(low):
        raise ValueError(f"the range runs backwards: write {high}-{low}")
    return range(int(low), int(high or low) + 1)


_ONE = {
    "anyOf": [{"type": "integer", "minimum": 100, "maximum": 599}, {"type": "string", "pattern": PATTERN}]
}

StatusCodes = Annotated[
    Codes,
    PlainValidator(parse_codes),
    PlainSerializer(Codes.written),
    WithJsonSchema({"anyOf": [*_ONE["anyOf"], {"type": "array", "minItems": 1, "items": _ONE}]}),
]
