"""The JSON Schema of the configuration, for editors, and for finding out what a place in it may hold."""

from collections.abc import Callable
from copy import deepcopy
from functools import cache
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from switchyard.backends.registry import built_in, foreign
from switchyard.config.by_type import model_of
from switchyard.config.config import Config
from switchyard.config.problems import Path
from switchyard.config.units import (
    DURATION_PATTERN,
    RATE_PATTERN,
    SIZE_PATTERN,
    format_duration,
    format_rate,
    format_size,
)

TITLE = "Switchyard configuration"
DIALECT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]

WRITTEN: dict[str, Callable[[Any], str]] = {
    DURATION_PATTERN: format_duration,
    RATE_PATTERN: format_rate,
    SIZE_PATTERN: format_size,
}


class _Published(GenerateJsonSchema):
    """Defaults as people write them, and nothing that repeats a key's name or is null."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        del schema
        return False

    def dict_schema(self, schema: core_schema.DictSchema) -> JsonSchemaValue:
        published = super().dict_schema(schema)
        if "patternProperties" in published:
            published["additionalProperties"] = False
        return published

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        published = super().default_schema(schema)
        default = published.get("default")
        write = WRITTEN.get(published.get("pattern", ""))
        if default is None:
            published.pop("default", None)
        elif write is not None:
            published["default"] = write(default)
        return published


@cache
def json_schema() -> Schema:
    """The schema with the built-in types; it is committed, so it depends on nothing but the code."""
    schema = Config.model_json_schema(mode="validation", schema_generator=_Published)
    for name in built_in():
        definition = schema["$defs"][_definition(name)]
        definition["required"] = ["type", *definition.get("required", [])]
        definition["properties"]["type"].pop("default", None)
    return {"$schema": DIALECT, **schema, "title": TITLE, "patternProperties": {"^x-": {}}}


def installed_schema() -> Schema:
    """The same with the types of installed packages, for editors here."""
    schema = deepcopy(json_schema())
    (choice,) = schema["properties"]["actions"]["patternProperties"].values()
    for name in foreign():
        definition = _of_plugin(name)
        schema["$defs"].update(definition.pop("$defs", {}))
        schema["$defs"][f"type:{name}"] = {**definition, "properties": _typed(definition, name)}
        choice["oneOf"].append({"$ref": f"#/$defs/type:{name}"})
        choice["discriminator"]["mapping"][name] = f"#/$defs/type:{name}"
    return schema


def _typed(definition: Schema, name: str) -> Schema:
    return {**definition.get("properties", {}), "type": {"const": name}}


def schema_at(path: Path, data: Any) -> Schema:
    """The schema of one place; empty where there is none. `data` decides among types."""
    root = json_schema()
    here, node = root, data
    for part in path:
        here = _step(_chosen(here, node, root), part)
        node = _inside(node, part)
    return _chosen(here, node, root)


def _inside(node: Any, part: str | int) -> Any:
    if isinstance(node, dict):
        return node.get(part)
    if isinstance(node, list) and isinstance(part, int) and part < len(node):
        return node[part]
    return None


def _step(schema: Schema, part: str | int) -> Schema:
    if isinstance(part, int):
        return dict(schema.get("items") or {})
    found = schema.get("properties", {}).get(part) or schema.get("additionalProperties")
    return dict(found or next(iter(schema.get("patternProperties", {}).values()), {}))


def _chosen(schema: Schema, data: Any, root: Schema) -> Schema:
    """The schema itself, past references, optional forms and the choice by `type`."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        own = {key: value for key, value in schema.items() if key != "$ref"}
        return {**_chosen(root["$defs"][name], data, root), **own}
    if "oneOf" in schema and "discriminator" in schema:
        return _of_type(data, root)
    for option in schema.get("anyOf", []):
        if option.get("type") != "null":
            return {**_chosen(option, data, root), **{k: v for k, v in schema.items() if k != "anyOf"}}
    return schema


def _of_type(data: Any, root: Schema) -> Schema:
    name = data.get("type") if isinstance(data, dict) else None
    if isinstance(name, str) and name in built_in():
        return dict(root["$defs"][_definition(name)])
    if isinstance(name, str) and name in foreign():
        return _of_plugin(name)
    return {}


def _definition(name: str) -> str:
    """What the schema calls the model of one of our types."""
    model = built_in()[name].model
    assert model is not None, "our own types have models"
    return model.__name__


def _of_plugin(name: str) -> Schema:
    try:
        model = model_of(name)
    except ValueError:
        return {}
    return model.model_json_schema(schema_generator=_Published) if model else {}
