"""JSON Schemas of a workflow's input and output: read once with the configuration, checked, never fetched.

Written as a path relative to the configuration file, or in place. The content is part of the configuration,
so two conductors with different schema files have different fingerprints.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator, ValidationInfo, WithJsonSchema

from switchyard.config.files import read_regular
from switchyard.config.problems import Path as Place
from switchyard.config.problems import Problem

LARGEST = 4 * 2**20
# Regular expressions, comparisons of all with all, and references, by which a schema may contain itself.
_COSTLY = frozenset(
    {
        *("pattern", "patternProperties", "propertyNames", "uniqueItems"),
        *("$ref", "$dynamicRef", "$recursiveRef", "contains", "unevaluatedItems", "unevaluatedProperties"),
    }
)


@dataclass(frozen=True)
class JsonSchema:
    """A schema that is known to be valid and to need nothing but itself."""

    document: Mapping[str, Any] | bool
    path: str | None = field(default=None, compare=False)
    validator: Any = field(default=None, compare=False, repr=False)

    @cached_property
    def text(self) -> str:
        """The schema as JSON, for a check in another process."""
        return json.dumps(self.document)

    @cached_property
    def cheap(self) -> bool:
        """Whether the time of a check grows with the size of the value and no faster."""
        return not _COSTLY.intersection(_keys(self.document))

    def problems(self, value: Any, under: Place = ()) -> Iterator[Problem]:
        """What is wrong with a value, as problems at paths below `under`."""
        try:
            for error in self.validator.iter_errors(value):
                yield Problem((*under, *error.absolute_path), error.message[:500])
        except RecursionError:
            yield Problem(under, "the schema refers to itself without end")


def _keys(document: Any) -> Iterator[str]:
    """Every key in the schema; one of a property's name counts too, which only costs speed."""
    if isinstance(document, Mapping):
        yield from document
        for value in document.values():
            yield from _keys(value)
    elif isinstance(document, list):
        for value in document:
            yield from _keys(value)


def read_schema(value: Any, info: ValidationInfo) -> JsonSchema:
    """From a path or a mapping; the context's `folder` is what a path is relative to."""
    if isinstance(value, JsonSchema):
        return value
    if isinstance(value, str):
        folder = (info.context or {}).get("folder") or Path()
        return _valid(_read(Path(folder) / value), value)
    return _valid(value, None)


def _read(path: Path) -> Any:
    try:
        data = read_regular(path, LARGEST)
    except OSError as error:
        raise ValueError(f"the schema file {path} cannot be read: {error.strerror}") from None
    if len(data) > LARGEST:
        raise ValueError(f"the schema file {path} is larger than 4 MiB")
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError(f"the schema file {path} is nested too deeply") from None
    except ValueError as error:
        raise ValueError(f"the schema file {path} is not JSON: {error}") from None


def _valid(document: Any, path: str | None) -> JsonSchema:
    # jsonschema takes long to import where its optional formats are installed, and most commands need none
    from switchyard.config.validators import validator_of  # noqa: PLC0415

    return JsonSchema(document, path, validator_of(document))


SchemaFile = Annotated[
    JsonSchema,
    PlainValidator(read_schema),
    PlainSerializer(lambda schema: schema.document),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "object"}, {"type": "boolean"}]}),
]
