"""Every secret that a configuration refers to, wherever in it."""

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import BaseModel

from switchyard.config.problems import Path, Problem
from switchyard.config.secrets import SecretRef
from switchyard.errors import ConfigError


def references(value: Any, path: Path = ()) -> Iterator[tuple[Path, SecretRef]]:
    """Where each reference is, and what it is."""
    if isinstance(value, SecretRef):
        yield path, value
    elif isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            yield from references(getattr(value, name), (*path, field.alias or name))
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from references(item, (*path, key))
    elif isinstance(value, tuple):
        for number, item in enumerate(value):
            yield from references(item, (*path, number))


def unresolved(config: BaseModel, environ: Mapping[str, str]) -> Iterator[Problem]:
    """A warning for each secret that is not there; where the programs run, it may well be."""
    for path, reference in references(config):
        try:
            reference.resolve(environ)
        except ConfigError as error:
            yield Problem(path, f"in this environment {error}", warning=True)
