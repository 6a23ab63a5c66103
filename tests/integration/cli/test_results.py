"""The commands about results that are reused."""

import json
from uuid import UUID

import pytest

from tests.integration.cli.conftest import Command
from tests.integration.reuse.rules import announce, ask, settle
from tests.integration.waiting.joins import end
from tests.parts.database import Database


@pytest.fixture
def computed(database: Database) -> list[UUID]:
    """Three results of one workflow."""
    with database.connect() as connection:
        announce(connection)
        asked = [ask(connection, number) for number in range(3)]
        settle(connection)
        end(connection, *asked)
        settle(connection)
    return asked


def test_results_are_listed_and_forgotten(
    switchyard: Command, database: Database, computed: list[UUID]
) -> None:
    listed = switchyard.json("results", "list", "--workflow", "ndvi")
    assert {(each["action_uuid"], each["version"], each["status"]) for each in listed} == {
        (str(uuid), "7", "SUCCESSFUL") for uuid in computed
    }
    assert "ndvi" in switchyard("results", "list").out
    forget = ("results", "forget", "-w", "ndvi", "--version", "7", "-m", "wrong bands")
    assert switchyard(*forget, "--dry-run").out == "3 would be forgotten; nothing was done.\n"
    assert "3 results: give --yes" in switchyard(*forget, code=65).err
    one = str(computed[1])
    assert switchyard.json("results", "forget", "--action", one[-8:], "-m", "a cloud") == {
        "forgotten": 1,
        "dry_run": False,
    }
    assert switchyard(*forget, "--yes", "--actor", "ann").out == "2 forgotten.\n"
    assert switchyard("results", "list").out.startswith("No results are reused")
    written = database.execute(
        "select subject, actor, reason, detail ->> 'forgotten' from switchyard.journal order by entry_id desc limit 1"
    )
    assert written == [("ndvi", "ann", "wrong bands", "2")]


def test_what_was_forgotten_is_computed_again(
    switchyard: Command, database: Database, computed: list[UUID]
) -> None:
    switchyard("results", "forget", "--before", "0s", "-m", "the archive was repaired", "--yes")
    with database.connect() as connection:
        again = ask(connection, 1)
        settle(connection)
    assert database.execute("select action_uuid, role from switchyard.reuse") == [(again, "leads")]
    assert again not in computed


def test_something_must_be_chosen(switchyard: Command) -> None:
    assert "choose results by" in switchyard("results", "forget", "-m", "x", code=65).err
    said = switchyard("results", "forget", "--before", "whenever", "-m", "x", code=65).err
    assert "--before" in said
    assert json.loads(switchyard("results", "list", "--json").out) == []
