"""The queues are ElasticMQ's, or moto's where there is no Java."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.integration.assessment.work.station import Station
from tests.parts.aws import AwsPart


@pytest.fixture
def station(elasticmq: AwsPart, tmp_path: Path) -> Iterator[Station]:
    with closing(Station(elasticmq, tmp_path)) as made:
        yield made
