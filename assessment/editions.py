"""Editions of the rules: data from `editions.toml`, or from a file of the same shape."""

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
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
    """What a site without a works is taken to have."""

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

    def share_for(self, hectares: float) -> float:
        return self.share if hectares >= self.from_hectares else 0.0


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

    def as_data(self) -> dict[str, Any]:
        return asdict(self)


def names(path: Path = SHIPPED) -> list[str]:
    return sorted(_parse(path)["edition"])


def load(choice: str | None = None) -> Edition:
    """The edition called `choice`; `FILE.toml` or `FILE.toml:NAME` is one of a file; None is the default."""
    path, name = SHIPPED, choice
    if choice and ".toml" in choice:
        file, _, name = choice.partition(".toml")
        path, name = Path(f"{file}.toml"), name.removeprefix(":") or None
    document = _parse(path)
    name = name or document.get("default")
    if name not in document["edition"]:
        known = ", ".join(sorted(document["edition"]))
        raise BadInput(f"edition {name!r} is not known; there are {known}")
    return _edition(
        str(name), {**_parse(SHIPPED)["common"], **document.get("common", {}), **document["edition"][name]}
    )


def _parse(path: Path) -> dict[str, Any]:
    try:
        document = tomllib.loads(path.read_text())
    except (OSError, ValueError) as error:
        raise BadInput(f"cannot read the editions in {path}: {error}") from error
    if not isinstance(document.get("edition"), dict):
        raise BadInput(f"{path} has no [edition.NAME] table")
    return document


def _edition(name: str, fields: Mapping[str, Any]) -> Edition:
    parts = {"standard_rates": Rates, "package_plant": PackagePlant, "suds": Suds, "greenspace": Greenspace}
    try:
        values = {key: parts[key](**value) if key in parts else value for key, value in fields.items()}
        return Edition(name=name, **{**values, "date": str(values["date"])})
    except (TypeError, KeyError) as error:
        raise BadInput(f"edition {name}: {error}") from error
