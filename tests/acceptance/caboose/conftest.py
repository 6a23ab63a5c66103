"""Stations for the tests of the spawned caboose."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.caboose.station import Station
from tests.parts.database import Database

Stations = Callable[..., Station]


@pytest.fixture
def stations(database: Database, tmp_path: Path) -> Iterator[Stations]:
    """Makes stations, and kills what is left running in them."""
    made: list[Station] = []

    def make(workflows: dict[str, Any], **config: Any) -> Station:
        made.append(Station(database, tmp_path, workflows, **config))
        return made[-1]

    yield make
    for station in made:
        station.close()
