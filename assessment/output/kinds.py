"""The type of a column of results, inferred from its values."""

from collections.abc import Iterable
from typing import Any, Literal

Kind = Literal["integer", "real", "text"]


def kind_of(values: Iterable[Any]) -> Kind:
    present = [value for value in values if value is not None]
    if present and all(isinstance(value, int) and not isinstance(value, bool) for value in present):
        return "integer"
    if present and all(isinstance(value, int | float) and not isinstance(value, bool) for value in present):
        return "real"
    return "text"
