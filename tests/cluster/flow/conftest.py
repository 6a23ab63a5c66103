"""Yards for the tests of the whole way."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.flow.yard import Yard
from tests.parts.argo import Argo
from tests.parts.database import Database

Yards = Callable[..., Yard]


@pytest.fixture
def yards(database: Database, argo: Argo, namespace: str, tmp_path: Path) -> Iterator[Yards]:
    """Makes yards, and kills what is left running in them."""
    made: list[Yard] = []

    def make(flows: dict[str, Any], **options: Any) -> Yard:
        made.append(Yard(database, argo.cluster, namespace, tmp_path, flows, **options))
        return made[-1]

    yield make
    for yard in made:
        yard.close()
