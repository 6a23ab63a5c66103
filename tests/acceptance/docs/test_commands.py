"""The blocks of README.md and docs/, run as they are written: in an empty folder, on a fresh database."""

import json
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from psycopg import sql
from psycopg.conninfo import make_conninfo

from tests.acceptance.docs.blocks import PAGES, ROOT, RUN, SHOWN, Block, blocks
from tests.acceptance.docs.sandbox import Sandbox, sandbox
from tests.parts.postgres import Postgres, Server
from tests.waiting import until

EVERY = [block for page in PAGES for block in blocks(page)]
# Pages that begin with a database that somebody has migrated; the others migrate it themselves.
MIGRATED = {
    "administration.md",
    "backends.md",
    "python.md",
    "scaling.md",
    "sql.md",
    "troubleshooting.md",
    "why.md",
}


@pytest.fixture
def empty(postgres: Postgres) -> Iterator[str]:
    """The URL of a database with nothing in it."""
    name = f"docs_{uuid4().hex[:12]}"
    with psycopg.connect(postgres.url(), autocommit=True) as server:
        server.execute(sql.SQL("create database {}").format(sql.Identifier(name)))
        yield postgres.url(name)
        server.execute(sql.SQL("drop database {} with (force)").format(sql.Identifier(name)))


@pytest.fixture
def place(tmp_path: Path, empty: str) -> Iterator[Sandbox]:
    with sandbox(tmp_path, empty) as made:
        yield made


def run(place: Sandbox, page: str) -> None:
    """Every block of a page that can run here, from top to bottom."""
    if page in MIGRATED:
        place.migrate()
    for block in EVERY:
        if block.page.name == page and block.runs:
            place.run(block)


@pytest.mark.parametrize("block", EVERY, ids=lambda block: block.place)
def test_every_block_is_run_or_reports_why_not(block: Block) -> None:
    assert block.language in RUN | SHOWN, f"{block.place}: say what it is: {sorted(RUN | SHOWN)}"
    assert block.marks.keys() <= {"not run", "part of", "ends with"}
    if "not run" in block.marks:
        assert len(block.marks["not run"]) > 20, f"{block.place}: give a reason"


def made_by_the_administrator(server: Server) -> str:
    """The URL of the owner of the database, neither of which there was: what postgres.md shows to run once."""
    [shown] = [block for block in EVERY if block.page.name == "postgres.md" and block.language == "sql"]
    with psycopg.connect(server.url(), autocommit=True) as administrator:
        for statement in filter(str.strip, shown.text.split(";")):
            administrator.execute(statement.encode())
    return make_conninfo(server.url("switchyard"), user="switchyard_owner")


def test_the_tutorial(tmp_path: Path, own_postgres: Server) -> None:
    """Webhooks by command, by SQL, after a workflow that failed or not, and after two others; a map; a campaign.

    Nothing of it needs a superuser.
    """
    with sandbox(tmp_path, made_by_the_administrator(own_postgres)) as place:
        run(place, "tutorial.md")

        def delivered() -> Counter[str]:
            files = (place.folder / "deliveries").glob("*.json")
            return Counter(json.loads(file.read_text())["body"]["hello"] for file in files)

        # One job by itself, one of the schedule, two that are waited for, five of the campaign.
        expected = Counter({"world": 1, "Postgres": 1, "both": 1, "FAILED": 1, "SUCCESSFUL": 9})
        until(lambda: delivered() == expected)


def test_administration(place: Sandbox) -> None:
    run(place, "administration.md")
    with psycopg.connect(place.url) as connection:
        rows = connection.execute(
            "select action_name, status::text, run from switchyard.thread order by 1"
        ).fetchall()
    assert rows == [("hook", "SUCCESSFUL", 3), ("noop", "CANCELED", 1)]


def test_operations(tmp_path: Path, own_postgres: Server) -> None:
    """On a durable server: the doctor has nothing to say of it."""
    with sandbox(tmp_path, own_postgres.url()) as place:
        run(place, "operations.md")
    with psycopg.connect(own_postgres.url()) as connection:
        found = connection.execute(
            "select max(ends_at) > now() + interval '29 days' from switchyard.partitions"
        ).fetchone()
    assert found == (True,)


def test_a_backend_of_ones_own(place: Sandbox) -> None:
    """A handler, and one that hands over to its source; installed as pip would, on the path."""
    written = [
        block
        for block in EVERY
        if block.page.name == "backends.md" and block.file in {"telegrams.py", "parcels.py", "pyproject.toml"}
    ]
    for block in written:
        (place.folder / str(block.file)).write_text(block.text)
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel"],
        cwd=place.folder,
        check=True,
        capture_output=True,
    )
    (wheel,) = (place.folder / "dist").glob("*.whl")
    installed = place.folder / "installed"
    subprocess.run([sys.executable, "-m", "zipfile", "-e", wheel, installed], check=True)
    place.environ["PYTHONPATH"] = str(installed)
    run(place, "backends.md")
    with psycopg.connect(place.url) as connection:
        rows = connection.execute(
            "select action_name, status::text, run, attempt from switchyard.thread order by 1"
        ).fetchall()
    assert rows == [("parcel", "SUCCESSFUL", 1, 1), ("telegram", "SUCCESSFUL", 1, 1)]
    until(lambda: not list((place.folder / "depot").iterdir()))  # forgotten once the end was recorded


def test_newuser_4_the_contract_of_a_program(place: Sandbox) -> None:
    """Two programs that succeed, and one that refuses its input."""
    run(place, "programs.md")
    outputs = [file.read_text() for file in (place.folder / "store").rglob("output.json")]
    assert sorted(outputs) == ['{"count": 2}', '{"lines": 0}']
    with psycopg.connect(place.url) as connection:
        failed = connection.execute(
            "select status::text, run, error from switchyard.thread where status <> 'SUCCESSFUL'"
        ).fetchall()
    assert failed == [("FAILED", 1, "exit code 65: parameters.scenes: a list is required")]


def test_the_assessment(place: Sandbox) -> None:
    run(place, "assessment.md")
    assert "<svg" in (place.folder / "out" / "report.html").read_text()
    assert (place.folder / "newts" / "output.json").exists()


def test_schedules(place: Sandbox) -> None:
    """A week of a nightly schedule, and one action by hand."""
    run(place, "schedules.md")
    with psycopg.connect(place.url) as connection:
        rows = connection.execute(
            "select outcome, count(*) from switchyard.schedule_tick where name = 'nightly' group by 1 order by 1"
        ).fetchall()
    assert rows == [("backfilled", 7), ("triggered", 1)]


def test_campaigns(place: Sandbox) -> None:
    run(place, "campaigns.md")
    with psycopg.connect(place.url) as connection:
        found = connection.execute(
            "select name, status::text, items, successful, open from switchyard.campaigns order by 1"
        ).fetchall()
    assert found == [("autumn", "SUCCESSFUL", 20, 20, 0), ("spring", "SUCCESSFUL", 8, 8, 0)]


def test_reuse(place: Sandbox) -> None:
    """One program for three actions: one that computes, one that waits for it, one that comes later; beside another scene."""
    run(place, "reuse.md")
    with psycopg.connect(place.url) as connection:
        found = connection.execute(
            "select status::text, count(*), count(switchyard.reused(action_uuid, run)) from switchyard.thread group by 1"
        ).fetchall()
    assert found == [("SUCCESSFUL", 4, 2)]


def test_actions_that_wait(place: Sandbox) -> None:
    run(place, "graphs.md")

    def statuses() -> list[tuple[str, int]]:
        with psycopg.connect(place.url) as connection:
            return connection.execute(
                "select status::text, count(*) from switchyard.thread group by 1"
            ).fetchall()

    until(lambda: statuses() == [("SUCCESSFUL", 16)])
    with psycopg.connect(place.url) as connection:
        done = connection.execute(
            "select parameters from switchyard.action where callback = 'done'"
        ).fetchall()
    assert done == [({"total": 10},)]  # 0 + 1 + 2 + 3 + 4, through two programs and the whole's output


REST = sorted(
    {block.page.name for block in EVERY if block.runs}
    - {
        "tutorial.md",
        "administration.md",
        "operations.md",
        "backends.md",
        "assessment.md",
        "programs.md",
        "schedules.md",
        "graphs.md",
        "campaigns.md",
        "reuse.md",
    }
)


@pytest.mark.parametrize("page", REST)
def test_the_other_pages(place: Sandbox, page: str) -> None:
    # Copies: a block that shows a file appends to it.
    shutil.copytree(ROOT / "config", place.folder / "config")
    shutil.copytree(ROOT / "config" / "schemas", place.folder / "schemas")
    shutil.copy(ROOT / "config" / "switchyard.yaml", place.folder)
    run(place, page)
