"""Finding actions by their parameters, tags and submitters, and saying how far back was looked."""

import json

import pytest

from switchyard.cli.filters import Filter, moment
from switchyard.ledger.queries import query
from tests.integration.cli.conftest import Command


def found(switchyard: Command, *words: str) -> set[str]:
    return {row["action_uuid"] for row in switchyard.json("list", *words)}


def test_parameters_are_searched_by_a_json_path(switchyard: Command) -> None:
    first = switchyard.submitted("noop", "-p", json.dumps({"scene": "S2A", "cloud": 0.1}))
    second = switchyard.submitted("noop", "-p", json.dumps({"scene": "S2B", "cloud": 0.7}))
    switchyard.submitted("noop", "-p", json.dumps({"other": {"scene": "S2A"}}))
    assert found(switchyard, "--where", '$.scene == "S2A"') == {first}
    assert found(switchyard, "--where", '$.scene starts with "S2" && $.cloud > 0.5') == {second}
    assert found(switchyard, "--where", "$.cloud < 1", "--name", "other") == set()
    assert found(switchyard, "--where", "$.scene") == set()  # not a condition: true for nothing


@pytest.mark.parametrize("path", ["$.scene == ", "scene == 1", "$[", ""])
def test_a_path_that_cannot_be_read_is_refused(switchyard: Command, path: str) -> None:
    assert "jsonpath" in switchyard("list", "--where", path, code=65).err
    assert "jsonpath" in switchyard("cancel", "--where", path, "-m", "x", "--yes", code=65).err


def test_tags_and_submitters(switchyard: Command) -> None:
    both = switchyard.submitted("noop", "--tag", "urgent", "--tag", "rerun")
    one = switchyard.submitted("noop", "--tag", "urgent")
    switchyard.submitted("noop")
    assert found(switchyard, "--tag", "urgent") == {both, one}
    assert found(switchyard, "--tag", "urgent", "--tag", "rerun") == {both}
    [(user,)] = switchyard.database.execute("select session_user")
    assert len(found(switchyard, "--submitted-by", user)) == 3
    assert found(switchyard, "--submitted-by", "nobody") == set()


def test_a_decision_finds_what_list_finds_and_nothing_else(switchyard: Command) -> None:
    chosen = switchyard.submitted("noop", "-p", json.dumps({"order": 17}), "--tag", "urgent")
    other = switchyard.submitted("noop", "-p", json.dumps({"order": 18}), "--tag", "urgent")
    said = switchyard("cancel", "--where", "$.order == 17", "--tag", "urgent", "-m", "x", "--yes").out
    assert said.startswith("1 canceled")
    statuses = {row["action_uuid"]: row["status"] for row in switchyard.json("list")}
    assert (statuses[chosen], statuses[other]) == ("CANCELED", "PENDING")


def test_every_list_says_how_far_back_it_looked(switchyard: Command) -> None:
    switchyard.submitted()
    assert "Searched the whole ledger." in switchyard("list").out
    assert "Searched back to " in switchyard("list", "--since", "1m").out
    assert "Searched back to " in switchyard("list", "--since", "1m", "--error", "x").out
    assert "Searched the whole ledger." in switchyard("list", "--json").err


def test_pages_follow_each_other_without_gap_or_repetition(switchyard: Command) -> None:
    uuids = [switchyard.submitted() for _ in range(7)]
    seen: list[str] = []
    words: tuple[str, ...] = ()
    while page := switchyard.json("list", "--limit", "3", *words):
        seen += [row["action_uuid"] for row in page]
        words = ("--before", seen[-1])
        switchyard.submitted("other")  # what is new does not move the pages
    assert seen == sorted(uuids, reverse=True)
    assert "--before …" in switchyard("list", "--limit", "3").out


def test_a_window_opens_only_its_own_partitions_of_both_tables(switchyard: Command) -> None:
    switchyard.submitted()
    with switchyard.database.connect() as connection:
        values = Filter(since=moment("--since", "1m")).values(10)
        plan = connection.execute(b"explain " + query("look", "list").encode(), values).fetchall()
    scans = [line for (line,) in plan if " on " in line and ("action_2" in line or "thread_2" in line)]
    days = {line.split(" on ")[1].split()[0].split("_")[-1] for line in scans}
    [(today,)] = switchyard.database.execute("select to_char(now() - interval '1 minute', 'YYYYMMDD')")
    assert scans
    assert min(days) == today
    assert {kind for line in scans for kind in ("action_", "thread_") if kind in line} == {
        "action_",
        "thread_",
    }
