"""The campaign commands: what they print, and what they refuse."""

from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli.conftest import Command
from tests.integration.sets.campaigns import members, run_to_the_end, submit_items, write_lines
from tests.integration.sets.graphs import settle
from tests.integration.waiting.joins import end
from tests.parts.database import Database
from tests.parts.stac import StacApi


@pytest.fixture
def lines(tmp_path: Path) -> str:
    return str(write_lines(tmp_path / "scenes.jsonl", [{"id": f"s{n}", "n": n} for n in range(8)]))


def started(switchyard: Command, lines: str, *words: str) -> Any:
    return switchyard.json("campaign", "start", "spring", "--action", "noop", "--from-file", lines, *words)


def finish(database: Database, campaign: Any, *failed: int) -> None:
    """All members end, these of them without success."""
    with database.connect() as connection:
        submit_items(connection)
        open_members = members(database, campaign)
        end(connection, *(open_members[n] for n in failed), status="FAILED")
        run_to_the_end(database, connection, campaign)


def test_a_campaign_from_its_start_to_its_end(switchyard: Command, database: Database, lines: str) -> None:
    row = started(switchyard, lines, "--in-flight", "5", "--lane", "north")
    assert (row["items"], row["complete"], row["waiting"], row["in_flight"]) == (8, True, 8, 5)
    assert started(switchyard, lines)["action_uuid"] == row["action_uuid"]  # run again, it is the same
    assert "0 of 8 items done" in switchyard("campaign", "show", "spring").out
    finish(database, row["action_uuid"], 0, 3)
    shown = switchyard("campaign", "show", "spring").out
    assert "8 of 8 items done, 2 of them without success" in shown
    listed = switchyard.json("campaign", "list")
    assert [(each["name"], each["status"], each["unsuccessful"]) for each in listed] == [
        ("spring", "FAILED", 2)
    ]
    gaps = switchyard.json("campaign", "gaps", "spring", "--from-file", lines)
    assert [(each["id"], each["state"]) for each in gaps] == [("s0", "FAILED"), ("s3", "FAILED")]


def test_failures_are_retriggered_and_nothing_else(
    switchyard: Command, database: Database, lines: str
) -> None:
    campaign = started(switchyard, lines)["action_uuid"]
    finish(database, campaign, 1)
    database.execute("select switchyard.callbacks_made(%s, 1)", campaign)
    switchyard("campaign", "retrigger", "spring", "--reason", "again", code=65)  # --failed must be said
    words = ("campaign", "retrigger", "spring", "--failed", "--reason", "the disk is larger")
    assert switchyard.json(*words) == {"name": "spring", "retriggered": 1}
    finish(database, campaign)
    assert switchyard.json("campaign", "show", "spring")["status"] == "SUCCESSFUL"
    assert switchyard("campaign", "gaps", "spring", "--from-file", lines).out == "There are no gaps.\n"


def test_pause_resume_and_cancel(switchyard: Command, database: Database, lines: str) -> None:
    campaign = started(switchyard, lines, "--in-flight", "2")["action_uuid"]
    assert switchyard("campaign", "pause", "spring", "--reason", "later").out == "spring is paused.\n"
    assert (
        switchyard("campaign", "pause", "spring", "--reason", "later").out == "spring was paused already.\n"
    )
    assert "Paused by" in switchyard("campaign", "show", "spring").out
    with database.connect() as connection:
        submit_items(connection)
        assert members(database, campaign) == []
        assert switchyard("campaign", "resume", "spring", "--reason", "now").out == "spring is resumed.\n"
        submit_items(connection)
        assert len(members(database, campaign)) == 2
        assert switchyard("campaign", "cancel", "spring", "--reason", "wrong").out == "spring is canceled.\n"
        settle(connection)
    assert len(members(database, campaign, "CANCELED")) == 2
    assert switchyard("campaign", "cancel", "spring", "--reason", "x").out == "spring had ended already.\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["start", "s", "--action", "noop"], "one of --from-file, --from-sql and --from-stac is needed"),
        (["start", "s", "--action", "noop", "--from-sql", "x", "--from-file", "y"], "one of --from-file"),
        (["start", "s", "--action", "noop", "--from-file", "none.jsonl"], "none.jsonl cannot be read"),
        (["start", "s", "--action", "noop", "--from-stac", "http://x"], "--search is needed"),
        (["start", "s", "--action", "noop", "--from-stac", "http://x", "--search", "[1]"], "JSON object"),
        (
            ["start", "s", "--action", "noop", "--from-sql", "x", "--search", "{}"],
            "--search is for --from-stac",
        ),
        (["show", "none"], "there is no campaign 'none'"),
        (["gaps", "none", "--from-sql", "select 1 as id"], "there is no campaign 'none'"),
        (["pause", "none", "--reason", "x"], "there is no campaign none"),
        (["cancel", "none", "--reason", "x"], "there is no campaign 'none'"),
    ],
)
def test_what_is_wrong_is_refused_with_the_reason(switchyard: Command, words: list[str], said: str) -> None:
    assert said in switchyard("campaign", *words, code=65).err


def test_a_changed_source_is_refused(switchyard: Command, lines: str) -> None:
    started(switchyard, lines)
    with Path(lines).open("a") as file:
        file.write('\n{"id": "late"}\n')
    said = switchyard("campaign", "start", "spring", "--action", "noop", "--from-file", lines, code=65)
    assert "there is a campaign spring already, with another source" in said.err
    gaps = switchyard.json("campaign", "gaps", "spring", "--from-file", lines)
    assert [each["state"] for each in gaps] == ["waiting"] * 8 + ["missing"]


def test_a_search_and_its_gaps(switchyard: Command, database: Database, stac: StacApi) -> None:
    collection = stac.collection()
    described = {
        "type": "Feature",
        "stac_version": "1.0.0",
        "links": [],
        "assets": {},
        "bbox": [-1.5, 52, -1.5, 52],
    }
    properties = {"datetime": "2026-03-01T00:00:00Z"}
    described["geometry"] = {"type": "Point", "coordinates": [-1.5, 52.0]}
    items = [
        described | {"id": f"s{n}", "collection": collection, "properties": properties} for n in range(3)
    ]
    stac.load(collection, items[:2])
    words = ("--from-stac", stac.url, "--search", f'{{"collections": ["{collection}"]}}')
    row = switchyard.json("campaign", "start", "june", "--action", "noop", *words)
    assert (row["items"], row["complete"]) == (2, True)
    finish(database, row["action_uuid"])
    stac.load(collection, items[2:])
    [gap] = switchyard.json("campaign", "gaps", "june", *words)
    assert (gap["id"], gap["state"]) == (f"{collection}/s2", "missing")
