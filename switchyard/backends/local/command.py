"""A command: the words of a process's argument list. No shell is ever involved."""

import shlex
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, WithJsonSchema

from switchyard.config.names import PlainText


def split_command(value: Any) -> Any:
    """A command written as one text becomes its words."""
    if not isinstance(value, str):
        return value
    try:
        return tuple(shlex.split(value))
    except ValueError as error:
        raise ValueError(f"the command cannot be split into words: {error}") from None


Command = Annotated[
    tuple[PlainText, ...],
    Field(min_length=1, max_length=1000),
    BeforeValidator(split_command),
    WithJsonSchema(
        {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}
    ),
]
