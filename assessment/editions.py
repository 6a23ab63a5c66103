"""Editions of the rules: data from `editions.toml`, or from a file of the same format."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass
from datetime import date
from pathlib import Path
from typing import Any

from switchyard.errors import BadInput

SHIPPED = Path(__file__).with_name("editions.toml")


@dataclass(frozen=True)
class Rates:
    occupancy: float
    litres: float


@dataclass(frozen=True)
class PackagePlant:
    """The package treatment plant that is assumed for a site without a works."""

    code: str
    name: str
    nitrogen: float
    phosphorus: float


@dataclass(frozen=True)
class Suds:
    reduction: float
    from_dwellings: int

    def reduction_for(self, dwellings: int) -> float:
        return self.reduction if dwellings >= self.from_dwellings else 0.0


@dataclass(frozen=True)
class Greenspace:
    share: float
    from_hectares: float
    nitrogen: float
    phosphorus: float


@dataclass(frozen=True)
class NullLoad:
    """The cases in which a wastewater load is null; in all others, missing values count as 0."""

    without_rates: bool
    without_concentration: bool


@dataclass(frozen=True)
class Edition:
    name: str
    date: str
    permit_factor: float
    days: float
    precaution: float
    majority: float
    unknown_lpa: str
    standard_rates: Rates
    package_plant: PackagePlant
    suds: Suds
    greenspace: Greenspace
    null_load: NullLoad
    keep_package_outside: bool

    def as_data(self) -> dict[str, Any]:
        return asdict(self)


def load(choice: str | None = None) -> Edition:
    """The edition `choice`; `FILE.toml` or `FILE.toml:NAME` selects one from a file; None is the default."""
    path, name = SHIPPED, choice
    if choice and ".toml" in choice:
        file, _, name = choice.partition(".toml")
        path, name = Path(f"{file}.toml"), name.removeprefix(":") or None
    document = _parse(path)
    name = name or document.get("default")
    if not isinstance(name, str) or name not in document["edition"]:
        known = ", ".join(sorted(document["edition"]))
        raise BadInput(f"edition {name!r} is not known; there are {known}")
    own = document["edition"][name]
    if not isinstance(own, dict):
        raise BadInput(f"{path}: edition.{name} is not a table")
    said = {"name": name, **_parse(SHIPPED)["common"], **document.get("common", {}), **own}
    edition: Edition = _filled(Edition, said, f"edition {name}")
    return edition


def _parse(path: Path) -> dict[str, Any]:
    try:
        document = tomllib.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot read the editions in {path}: {error}") from error
    if not isinstance(document.get("edition"), dict) or not isinstance(document.get("common", {}), dict):
        raise BadInput(f"{path} has no [edition.NAME] table, or its [common] is not a table")
    return document


def _filled(kind: Any, said: Mapping[str, Any], where: str) -> Any:
    """A dataclass from a table of the file; errors name unknown, missing and mistyped keys."""
    if not isinstance(said, dict):
        raise BadInput(f"{where} is {said!r}, not a table")
    known = {field.name: field.type for field in fields(kind)}
    for wrong, words in ((said.keys() - known, "is not known"), (known.keys() - said, "is missing")):
        if wrong:
            raise BadInput(f"{where}: {', '.join(sorted(wrong))} {words}")
    return kind(**{name: _value(known[name], said[name], f"{where}: {name}") for name in known})


def _value(kind: Any, value: Any, where: str) -> Any:
    if is_dataclass(kind):
        return _filled(kind, value, where)
    if kind is str and isinstance(value, str | date):
        return str(value)
    if kind is bool and isinstance(value, bool):
        return value
    if kind in (int, float) and type(value) in (int, kind) and 0 <= value < math.inf:
        return kind(value)
    wanted = {str: "a text", bool: "true or false"}.get(kind, "a number from 0 on")
    raise BadInput(f"{where} is {value!r}, not {wanted}")
