"""Outputs that cannot be used, and a store that takes nothing."""

import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from switchyard.places import Places
from switchyard.store import open_store
from tests.integration.caboose.conftest import FLOWS, Worlds
from tests.integration.caboose.world import World
from tests.parts.disk import Disk
from tests.parts.need import obtain


@pytest.mark.parametrize(
    ("workflow", "output", "reason"),
    [
        ("flow", b"{no json", "not JSON"),
        ("flow", b'{"n": NaN}', "not JSON"),
        ("flow", b"[" * 4_000, "not JSON"),
        ("strict", {"m": 1}, "does not fit its schema"),
        ("flow", b'"' + b"x" * 5000 + b'"', "at most 4096 are taken"),
    ],
)
async def test_an_output_that_cannot_be_used_ends_failed(
    worlds: Worlds, workflow: str, output: Any, reason: str
) -> None:
    world = await worlds(FLOWS, caboose={"max_output": 4096})
    uuid = world.queued(world.submit(workflow))
    path = world.exited(uuid, output=output)
    await world.tell()
    thread = world.thread(uuid)
    assert thread["status"] == "FAILED"
    assert reason in thread["error"]
    assert thread["needs_review"]
    assert [child[3] for child in world.children(uuid)] == [{"n": None}]
    assert not path.exists()
    before = world.events(uuid)
    world.exited(uuid)
    await world.tell(*world.source._scan())
    assert world.events(uuid) == before, "reported again, it is only forgotten"


async def test_an_output_of_200_mb_is_refused_without_being_read(world: World, tmp_path: Path) -> None:
    uuid = world.queued(world.submit())
    path = world.exited(uuid, output={"n": 1})
    with (tmp_path / "store" / Places(uuid, 1).output).open("r+b") as file:
        file.truncate(200_000_000)
    tracemalloc.start()
    await world.tell()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert world.thread(uuid)["status"] == "FAILED"
    assert "is 200000000 bytes" in world.thread(uuid)["error"]
    assert peak < 20 * 2**20
    assert not path.exists()


async def test_a_large_output_is_used_all_the_same(world: World) -> None:
    uuid = world.queued(world.submit())
    world.exited(uuid, output={"n": 7, "text": "x" * 2_000_000})
    await world.tell()
    assert world.children(uuid) == [("done", "hook", None, {"n": 7}, "PENDING")]


@pytest.fixture
def disk() -> Iterator[Disk]:
    with closing(obtain("A disk that can be filled", Disk)) as made:
        yield made


@pytest.mark.parametrize(("spoil", "reason"), [(Disk.fill, "the disk is full"), (Disk.protect, "read-only")])
async def test_a_store_that_is_full_or_read_only_keeps_the_execution_and_reports_to_the_inbox(
    worlds: Worlds, disk: Disk, spoil: Callable[[Disk], None], reason: str
) -> None:
    world = await worlds(FLOWS, store=open_store(disk.folder.as_uri()))
    world.store.put("something", b"a disk of no size at all cannot be made")
    spoil(disk)
    uuids = [world.queued(world.submit()) for _ in range(3)]
    paths = [world.exited(uuid) for uuid in uuids]
    await world.tell()
    assert all(path.exists() for path in paths)
    assert {world.thread(uuid)["status"] for uuid in uuids} == {"QUEUED"}
    ((subject, error),) = world.inbox("archive")
    assert subject == world.store.url
    assert reason in error
    disk.free()
    world.intake._later = [(0.0, *rest) for _, *rest in world.intake._later]  # type: ignore[misc]
    await world.tell()
    assert {world.thread(uuid)["status"] for uuid in uuids} == {"SUCCESSFUL"}
    assert not any(path.exists() for path in paths)
    assert world.inbox("archive") == [], "it is over by itself"


async def test_what_another_caboose_reported_of_the_store_is_over_with_the_first_archive(
    world: World,
) -> None:
    await world.queries.report("archive", world.store.url, "executions cannot be archived", "k", {})
    await world.queries.report("archive", "s3://another", "executions cannot be archived", "k", {})
    world.database.execute(
        "insert into switchyard.journal (kind, subject, actor, needs_review) values ('archive', %s, 'ann', true)",
        world.store.url,
    )
    world.exited(world.queued(world.submit()))
    await world.tell()
    assert world.database.execute("select subject, actor from switchyard.journal where needs_review") == [
        ("s3://another", "caboose"),
        (world.store.url, "ann"),
    ]
