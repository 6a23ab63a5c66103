"""Which node is meant: `displayName=approve`, several fields with commas, as Argo's own commands have it."""

import re
from collections.abc import Mapping
from typing import Any

_FIELDS = ("id", "name", "displayName", "templateName")
_INPUT = re.compile(r"inputs\.parameters\.([A-Za-z0-9_-]+)\.value")


class Selector:
    """All of its fields have to match."""

    def __init__(self, text: str) -> None:
        self._wanted = [_condition(part) for part in text.split(",")]

    def matches(self, node: Mapping[str, Any]) -> bool:
        """Whether a node is meant."""
        return all(_value(node, field) == value for field, value in self._wanted)


def _condition(part: str) -> tuple[str, str]:
    field, equals, value = part.partition("=")
    field, value = field.strip(), value.removeprefix("=").strip()
    if not equals or not value or not (field in _FIELDS or _INPUT.fullmatch(field)):
        raise ValueError(
            f"a node selector is like displayName=approve, with {', '.join(_FIELDS)}: not {part!r}"
        )
    return field, value


def _value(node: Mapping[str, Any], field: str) -> str | None:
    named = _INPUT.fullmatch(field)
    if named is None:
        return node.get(field)
    for parameter in (node.get("inputs") or {}).get("parameters") or []:
        if parameter.get("name") == named[1]:
            return str(parameter.get("value"))
    return None
