"""The commands' less frequent words and answers."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from switchyard.cli import many, show
from switchyard.cli.database import configured, connected
from switchyard.errors import BadInput, ConfigError, DatabaseUnavailable, NotMigrated, SwitchyardError
from tests.integration.cli.conftest import Command


def test_actions_are_chosen_by_status_and_time(switchyard: Command) -> None:
    ended, waiting = switchyard.submitted(), switchyard.submitted("other")
    switchyard.event(ended, "FAILED", error="it broke")
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    chosen = {
        ("--status", "failed"): {ended},
        ("--status", "Failed,pending"): {ended, waiting},
        ("--status", "open"): {waiting},
        ("--since", "1h30m"): {ended, waiting},
        ("--since", tomorrow): set(),
        ("--until", tomorrow): {ended, waiting},
        ("--until", "2026-01-31"): set(),
    }
    for words, uuids in chosen.items():
        assert {row["action_uuid"] for row in switchyard.json("list", *words)} == uuids, words
    assert "; there are more: --limit N shows more, --before …" in switchyard("list", "--limit", "1").out


def test_what_a_decision_does_to_each(switchyard: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = [switchyard.submitted() for _ in range(22)]
    waiting = switchyard.submitted("other")
    for uuid in failed:
        switchyard.event(uuid, "FAILED", error="it broke")
    by_name = ("retrigger", "--name", "noop", "-m", "x")
    assert "… and 2 more." in switchyard(*by_name, "--dry-run").out
    assert sorted(switchyard.json(*by_name, "--dry-run")) == failed
    monkeypatch.setattr(many, "MOST", 21)
    assert "more than 21 actions: choose fewer" in switchyard(*by_name, "--yes", code=65).err
    monkeypatch.setattr(many, "MOST", 22)
    told = switchyard.json(*by_name, "--yes")
    assert (len(told), {each["result"] for each in told}) == (22, {2})
    assert "1 canceled, 0 had ended already, 0 refused." in switchyard("cancel", waiting, "-m", "x").out
    assert "0 canceled, 1 had ended already, 0 refused." in switchyard("cancel", waiting, "-m", "x").out
    open_one = failed[0]
    said = switchyard("retrigger", open_one, waiting, "-m", "x", code=1).out.splitlines()
    assert said == [
        "1 retriggered, 1 refused.",
        f"  action {open_one} is PENDING: only one that ended without success can be retriggered",
    ]
    assert "'b' is not one of" in switchyard("retrigger", waiting, "-m", "x", "--from", "b", code=2).err
    [refused] = switchyard.json("retrigger", open_one, "-m", "x", "--from", "start", code=1)
    assert (refused["action_uuid"], "is PENDING" in refused["error"]) == (open_one, True)


def test_show_prints_every_step(switchyard: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uuid = switchyard.submitted()
    switchyard.event(uuid, "RUNNING")
    switchyard.event(uuid, "INFO", detail={"progress": 0.25, "step": "cut"})
    switchyard.event(uuid, "BACKOFF", error="later", retry_seconds=2.5)
    switchyard.event(uuid, "SUCCESSFUL")
    switchyard.event(uuid, "FAILED", error="too late")
    (tmp_path / "store").write_text("a file where the store's folder should be")
    shown = switchyard("show", uuid).out
    for said in ("25% cut", "later again in 2.5 s", "too late (ignored: too late, or a duplicate)"):
        assert said in shown, shown
    assert switchyard.json("show", uuid)["files"] == []
    switchyard.database.execute(
        "insert into switchyard.action (action_name, parent_uuid) values ('other', %s)", uuid
    )
    monkeypatch.setattr(show, "MOST_RELATIVES", 2)
    assert "… the first 2" in switchyard("show", uuid).out


def test_submit_takes_times_parents_and_files(switchyard: Command, tmp_path: Path) -> None:
    parent = switchyard.submitted("noop", "--after", "2126-01-31T08:00Z")
    lines = [
        {"action_name": "noop", "start_after": "1h", "parent_uuid": parent},
        {"workflow": "sums", "parameters": {"said": "one\u2028line"}},
    ]
    (tmp_path / "many").write_text("\n\n".join(json.dumps(line, ensure_ascii=False) for line in lines))
    first, second = switchyard.json("submit", "--bulk", str(tmp_path / "many"))
    [(waits, by)] = switchyard.database.execute(
        "select start_after - now(), parent_uuid::text from switchyard.action where action_uuid = %s", first
    )
    assert timedelta(minutes=59) < waits <= timedelta(hours=1)
    assert by == parent
    assert switchyard.json("show", second)["action"]["parameters"] == {"said": "one\u2028line"}
    assert switchyard.json("show", parent)["action"]["start_after"] == "2126-01-31T08:00:00Z"


def test_submit_stores_lane_and_tags_and_show_prints_them(switchyard: Command) -> None:
    uuid = switchyard.submitted("noop", "--lane", "acme", "--tag", "red", "--tag", "night run")
    [bulk] = switchyard(
        "submit", "--bulk", "-", stdin='{"action_name": "noop", "lane": "acme"}\n'
    ).out.split()
    action = switchyard.json("show", uuid)["action"]
    assert (action["lane"], action["tags"], action["submitted_by"]) == (
        "acme",
        ["red", "night run"],
        "postgres",
    )
    assert switchyard.json("show", bulk)["action"]["lane"] == "acme"
    shown = switchyard("show", uuid).out
    assert "acme" in shown
    assert "night run" in shown


def test_what_the_server_refuses_is_a_sentence(switchyard: Command) -> None:
    refused: dict[str, tuple[type[SwitchyardError], str]] = {
        "select * from switchyard.nothing": (NotMigrated, "run `switchyard migrate`"),
        "set role pg_monitor; select * from switchyard.action": (ConfigError, "This user lacks a role"),
        "select 'x'::integer": (BadInput, "invalid input syntax"),
        "select pg_terminate_backend(pg_backend_pid())": (DatabaseUnavailable, "terminating connection"),
        "do $$ begin raise exception 'odd' using errcode = 'XX000'; end $$": (SwitchyardError, "odd"),
    }
    for statement, (kind, words) in refused.items():
        with pytest.raises(SwitchyardError) as raised, connected(configured(None)) as connection:
            connection.execute(statement.encode())
        assert (raised.type, words in str(raised.value)) == (kind, True), (statement, raised.value)


def test_a_user_without_a_role_may_not_migrate(switchyard: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    url = psycopg.conninfo.make_conninfo(switchyard.database.url, options="-c role=pg_monitor")
    monkeypatch.setenv("DATABASE_URL", url)
    assert "permission denied" in switchyard("migrate", code=78).err


def test_without_a_configuration_the_variables_of_libpq_say_where(
    switchyard: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uuid = switchyard.submitted()
    given = conninfo_to_dict(switchyard.database.url)
    for name in ("host", "port", "user", "password", "dbname"):
        if given.get(name):
            monkeypatch.setenv(f"PG{'DATABASE' if name == 'dbname' else name.upper()}", str(given[name]))
    monkeypatch.delenv("SWITCHYARD_CONFIG")
    monkeypatch.chdir(tmp_path / "..")
    assert [row["action_uuid"] for row in switchyard.json("list")] == [uuid]


def test_workers_of_two_configurations_and_what_is_pending_for_programs(switchyard: Command) -> None:
    switchyard.database.execute(
        "insert into switchyard.worker (kind, host, slots, config_hash)"
        " values ('conductor', 'a', 1, 'x'), ('conductor', 'b', 1, 'y')"
    )
    assert "do not share one configuration" in switchyard("workers").out
    state = switchyard.json("migrate")
    assert (state["revision"], state["steps"]) == (state["newest"], [])
