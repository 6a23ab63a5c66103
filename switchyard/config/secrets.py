"""Secrets by reference: the file has the location of a secret, never its value.

Only `resolve` reads the value, at the moment it is needed, and has it masked in our logs from then on; what
is printed, dumped, hashed or compared is the reference. A secret written straight into the file is refused
without being repeated.
"""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, PlainSerializer, PlainValidator, WithJsonSchema

from switchyard.config.files import read_regular
from switchyard.config.problems import Path as KeyPath
from switchyard.config.problems import Problem
from switchyard.errors import ConfigError
from switchyard.process.redact import register_secret

PATTERN = r"^(env:[A-Za-z_][A-Za-z0-9_]*|file:/.+)$"
LARGEST = 64 * 1024
_HINT = "secrets are given by reference: write env:NAME or file:/path"


@dataclass(frozen=True, slots=True)
class SecretRef:
    """Where a secret is: a variable of the environment or a mounted file."""

    kind: Literal["env", "file"]
    name: str

    def __str__(self) -> str:
        return f"{self.kind}:{self.name}"

    def resolve(self, environ: Mapping[str, str] | None = None) -> str:
        """The secret itself; a ConfigError that names the reference where there is none."""
        value = self._from_env(os.environ if environ is None else environ)
        if not value:
            raise ConfigError(f"the secret {self} is empty or not set")
        register_secret(value)
        return value

    def _from_env(self, environ: Mapping[str, str]) -> str | None:
        return environ.get(self.name) if self.kind == "env" else self._from_file()

    def _from_file(self) -> str:
        try:
            data = read_regular(Path(self.name), LARGEST)
            text = data.decode()
        except OSError as error:
            raise ConfigError(f"the secret {self} cannot be read: {error.strerror}") from None
        except ValueError:
            raise ConfigError(f"the secret {self} cannot be read: it is not UTF-8 text") from None
        if len(data) > LARGEST:
            raise ConfigError(f"the secret {self} is larger than 64 KiB")
        return text.rstrip("\r\n")


def is_reference(text: str) -> bool:
    """Whether it is written as a reference, so that it may be shown."""
    return re.fullmatch(PATTERN.strip("^$"), text, re.ASCII) is not None


def parse_secret(value: Any) -> SecretRef:
    """From `env:NAME` or `file:/path`; anything else is refused without being repeated."""
    if isinstance(value, SecretRef):
        return value
    if not isinstance(value, str) or not is_reference(value) or "\0" in value:
        raise ValueError(_HINT)
    kind, _, name = value.partition(":")
    return SecretRef("env" if kind == "env" else "file", name)


def _parse_setting(value: Any) -> "SecretRef | str":
    if isinstance(value, str) and not value.startswith(("env:", "file:")):
        if "\0" in value:
            raise ValueError("a NUL character is not allowed")
        return value
    return parse_secret(value)


_SCHEMA = WithJsonSchema(
    {"type": "string", "pattern": PATTERN, "examples": ["env:API_TOKEN", "file:/run/secrets/token"]}
)

Secret = Annotated[SecretRef, PlainValidator(parse_secret), PlainSerializer(str), _SCHEMA]
SecretOrText = Annotated[
    SecretRef | str, PlainValidator(_parse_setting), PlainSerializer(str), WithJsonSchema({"type": "string"})
]


def references(value: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, SecretRef]]:
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
