"""docs/configuration-reference.md, made from the JSON Schema of the configuration: see `make schema`."""

import json
import re
import sys
from collections.abc import Iterator
from typing import Any

from switchyard.backends.registry import built_in
from switchyard.config.published import Schema, json_schema
from switchyard.config.units import DURATION_PATTERN, RATE_PATTERN, SIZE_PATTERN

HEAD = """# Configuration reference

Every key of the file, with its form, its default and its meaning. Made by `make schema` from the models; what
the forms mean, where the file is looked for and how settings are laid over it is in
[configuration.md](configuration.md).
"""
_FORMS = {DURATION_PATTERN: "duration", RATE_PATTERN: "rate", SIZE_PATTERN: "size"}
_PLAIN = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}


def reference() -> str:
    """The whole document."""
    schema = json_schema()
    parts = [HEAD, _section("The file", schema, schema, "")]
    parts += [_of(name, schema) for name in _in_order(schema)]
    return "\n".join(parts)


def _in_order(schema: Schema) -> list[str]:
    """Definitions as the file meets them: top to bottom, each after the first that mentions it."""
    found: list[str] = []
    _collect(schema["properties"], schema, found)
    return [name for name in found if schema["$defs"][name].get("properties")]


def _collect(node: Any, schema: Schema, found: list[str]) -> None:
    if isinstance(node, dict):
        name = str(node.get("$ref", "")).rpartition("/")[2]
        if name and name not in found:
            found.append(name)
            _collect(schema["$defs"][name], schema, found)
        for key, item in node.items():
            if key != "discriminator":
                _collect(item, schema, found)
    elif isinstance(node, list):
        for item in node:
            _collect(item, schema, found)


def _of(name: str, schema: Schema) -> str:
    definition = schema["$defs"][name]
    return _section(_title(name), definition, schema, definition.get("description", ""))


def _title(name: str) -> str:
    """`HttpAction` is shown as its type, `RetryPolicy` as two words."""
    for kind, backend in built_in().items():
        if backend.model is not None and backend.model.__name__ == name:
            return f"Action of type {kind}"
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)
    return words[:1] + words[1:].lower()


def _anchor(title: str) -> str:
    return title.lower().replace(" ", "-")


def _section(title: str, definition: Schema, schema: Schema, text: str) -> str:
    rows = "\n".join(_rows(definition, schema))
    head = "| key | form | default | meaning |\n| --- | --- | --- | --- |"
    return "\n\n".join(part for part in (f"## {title}", text, f"{head}\n{rows}") if part) + "\n"


def _rows(definition: Schema, schema: Schema) -> Iterator[str]:
    required = definition.get("required", [])
    for key, value in definition["properties"].items():
        default = "required" if key in required else _default(value, schema)
        cells = (f"`{key}`", _form(value, schema), default, value.get("description", ""))
        yield "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _default(value: Schema, schema: Schema) -> str:
    default = value.get("default")
    if isinstance(default, dict) and "$ref" in value:
        default = _differing(default, schema["$defs"][value["$ref"].rpartition("/")[2]])
    if default is None or isinstance(default, list) or default == {}:
        return ""
    return f"`{default if isinstance(default, str) else json.dumps(default)}`"


def _differing(default: dict[str, Any], definition: Schema) -> dict[str, Any]:
    """What a default sets other than its own keys would."""
    own = {key: value.get("default") for key, value in definition["properties"].items()}
    return {key: value for key, value in default.items() if value not in (own.get(key), {}, []) and value}


def _form(value: Schema, schema: Schema) -> str:
    if "$ref" in value:
        return _link(value["$ref"].rpartition("/")[2], schema)
    if "discriminator" in value:
        links = (f"[{kind}](#action-of-type-{kind})" for kind in built_in())
        return f"an action of type {', '.join(links)}"
    if "anyOf" in value or "oneOf" in value:
        options = [_form(option, schema) for option in value.get("anyOf") or value["oneOf"]]
        return " or ".join(dict.fromkeys(option for option in options if option != "null"))
    if "enum" in value or "const" in value:
        return ", ".join(f"`{word}`" for word in value.get("enum") or [value["const"]])
    return _simple(value, schema)


def _link(name: str, schema: Schema) -> str:
    if not schema["$defs"][name].get("properties"):
        return "any JSON"
    title = _title(name)
    return f"[{title[:1].lower()}{title[1:]}](#{_anchor(title)})"


def _simple(value: Schema, schema: Schema) -> str:
    kind = value.get("type", "")
    if kind == "array":
        return f"list of {_form(value.get('items', {}), schema)}"
    if kind == "object":
        inner = value.get("additionalProperties") or next(
            iter(value.get("patternProperties", {}).values()), None
        )
        return f"name: {_form(inner, schema)}" if isinstance(inner, dict) else "mapping"
    form = _FORMS.get(value.get("pattern", "")) or _PLAIN.get(kind, kind or "any JSON")
    return f"{form}{_range(value)}"


def _range(value: Schema) -> str:
    low = value.get("minimum", value.get("exclusiveMinimum"))
    high = value.get("maximum", value.get("exclusiveMaximum"))
    return f", {low} to {high}" if low is not None and high is not None else ""


if __name__ == "__main__":
    sys.stdout.write(reference())
