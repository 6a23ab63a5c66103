"""`switchyard show` of a graph and of a campaign: layers, states, what each waits for, and counts."""

import pytest
from psycopg.types.json import Jsonb

from switchyard.cli import members
from tests.integration.cli.conftest import Command
from tests.integration.sets.campaigns import submit_items, write_lines
from tests.parts.database import Database

NODES = {
    "fetch": {"action_name": "noop"},
    "ndvi": {"workflow": "sums", "after": ["fetch"]},
    "water": {"action_name": "other", "after": ["fetch"]},
    "report": {"action_name": "noop", "after": ["ndvi", "water", "fetch"], "policy": "ended"},
}


def graph(switchyard: Command) -> dict[str | None, str]:
    switchyard.database.execute(
        "insert into switchyard.route (workflow, action_name) values ('sums', 'noop')"
    )
    found = switchyard.database.execute(
        "select name, action_uuid::text from switchyard.submit_graph(%s)", Jsonb({"nodes": NODES})
    )
    return dict(found)


def test_a_graph_is_drawn_by_layers(switchyard: Command) -> None:
    ids = graph(switchyard)
    switchyard.event(ids["fetch"], "SUCCESSFUL")
    switchyard.event(ids["water"], "FAILED", error="no such band")
    shown = switchyard("show", ids[None]).out
    begin = shown.index("2 of 4 nodes done, 1 of them without success; 2 open.")
    drawn = [" ".join(line.split()) for line in shown[begin:].splitlines()[1:6]]
    assert drawn == [
        "layer node what status run action waits for",
        f"1 fetch noop SUCCESSFUL 1 …{ids['fetch'][-8:]}",
        f"2 ndvi sums PENDING 1 …{ids['ndvi'][-8:]} after fetch",
        f"water other FAILED 1 …{ids['water'][-8:]} after fetch: no such band",
        f"3 report noop PENDING 1 …{ids['report'][-8:]} after fetch, ndvi, water (however they end)",
    ]
    assert "nodes done" not in switchyard("show", ids["ndvi"]).out


def test_programs_get_the_members_too(switchyard: Command) -> None:
    ids = graph(switchyard)
    found = switchyard.json("show", ids[None])["set"]
    assert (found["added"], found["open"]) == (4, 4)
    assert [each["node"] for each in found["members"]] == ["fetch", "ndvi", "water", "report"]
    assert set(found["members"][3]["after"]) == {ids["fetch"], ids["ndvi"], ids["water"]}
    node = switchyard.json("show", ids["ndvi"])
    assert node["set"] is None
    assert (node["action"]["node"], node["action"]["member_of"]) == ("ndvi", ids[None])


def test_of_a_campaign_the_first_members_are_shown(
    switchyard: Command, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = write_lines(switchyard.folder / "scenes.jsonl", [{"id": f"s{n}"} for n in range(5)])
    words = ("campaign", "start", "spring", "--action", "noop", "--from-file", str(lines))
    uuid = switchyard.json(*words)["action_uuid"]
    assert "It has no members yet." in switchyard("show", uuid).out
    with database.connect() as connection:
        submit_items(connection)
    assert "0 of 5 members done, 0 of them without success; 5 open." in switchyard("show", uuid).out
    monkeypatch.setattr(members, "FIRST_ITEMS", 2)
    shown = switchyard("show", uuid).out
    assert shown.count("PENDING") == 2
    assert "… the first 2\n" in shown
