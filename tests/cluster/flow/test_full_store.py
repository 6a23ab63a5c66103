"""An archive store that is full: the workflow stays in the cluster, the inbox says why, and it goes on by itself."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.cluster.flow.flows import FLOWS
from tests.cluster.flow.yard import Yard
from tests.parts.database import Database
from tests.parts.disk import Disk
from tests.parts.kubernetes import Cluster
from tests.parts.need import obtain
from tests.waiting import until


@pytest.fixture
def disk() -> Iterator[Disk]:
    with closing(obtain("A disk that can be filled", Disk)) as made:
        yield made


@pytest.fixture
def yard(
    kubernetes: Cluster, namespace: str, database: Database, disk: Disk, tmp_path: Path
) -> Iterator[Yard]:
    made = Yard(database, kubernetes, namespace, tmp_path, FLOWS, store=disk.folder.as_uri())
    yield made
    made.close()


def test_nothing_is_deleted_that_is_not_archived(yard: Yard, disk: Disk) -> None:
    disk.fill()
    uuid = yard.ended("good")
    yard.caboose.start()
    inbox = "select kind, error from switchyard.inbox"
    ((kind, error),) = until(lambda: yard.database.execute(inbox))
    assert (kind, "the disk is full" in error) == ("archive", True)
    assert [item["metadata"]["name"] for item in yard.in_cluster()] == [str(uuid)]
    assert yard.ledger.status(uuid) == "QUEUED"
    disk.free()
    until(lambda: yard.ledger.status(uuid) == "SUCCESSFUL" and yard.in_cluster() == [])
    assert yard.archived(uuid)["metadata"]["name"] == str(uuid)
    assert yard.database.execute(inbox) == []
