"""The commands as people and programs meet them."""

import json
import re
from datetime import datetime

import pytest

from tests.acceptance.admin.conftest import Switchyard


def fail(switchyard: Switchyard, uuid: str, error: str = "it broke") -> None:
    switchyard.database.execute(
        "insert into switchyard.event (action_uuid, status, run, attempt, error) values (%s, 'FAILED', 1, 1, %s)",
        uuid,
        error,
    )


def test_an_action_from_submit_to_retrigger(switchyard: Switchyard) -> None:
    uuid = switchyard.run(
        "submit", "noop", "-p", '{"a": 1}', "--correlation-id", "c-1", "--key", "k"
    ).stdout.strip()
    assert switchyard.run("submit", "noop", "-p", '{"a": 1}', "--key", "k").stdout.strip() == uuid
    assert "which asked for something else" in switchyard.run("submit", "noop", "--key", "k", code=65).stderr
    assert [row["action_uuid"] for row in switchyard.json("list", "--status", "open")] == [uuid]
    fail(switchyard, uuid)
    assert [(row["action_uuid"], row["error"]) for row in switchyard.json("inbox")] == [(uuid, "it broke")]
    switchyard.run("retrigger", uuid, "--reason", "mended")
    shown = switchyard.json("show", uuid)
    assert (shown["action"]["status"], shown["action"]["run"]) == ("PENDING", 2)
    assert shown["events"][-1]["detail"]["reason"] == "mended"
    assert "@" in shown["events"][-1]["detail"]["actor"]
    switchyard.run("cancel", uuid, "-m", "enough", "--actor", "ann")
    assert [event["status"] for event in switchyard.json("events", uuid)] == ["FAILED", "PENDING", "CANCELED"]
    assert switchyard.json("verify") == []


def test_times_are_utc_for_programs_and_local_for_people(switchyard: Switchyard) -> None:
    uuid = switchyard.run("submit", "noop").stdout.strip()
    created = switchyard.json("show", uuid)["action"]["created_at"]
    assert created.endswith("Z")
    in_tokyo = (datetime.fromisoformat(created).timestamp() + 9 * 3600) // 1
    people = switchyard.run("show", uuid).stdout
    shown = re.search(r"submitted +(\S+ \S+)", people)
    assert shown
    assert datetime.fromisoformat(shown[1] + "+00:00").timestamp() == in_tokyo


def test_what_the_configuration_does_not_know_is_refused_by_field(switchyard: Switchyard) -> None:
    assert "did you mean 'noop'" in switchyard.run("submit", "nop", code=65).stderr
    assert "workflow: there is no workflow 'sum'" in switchyard.run("submit", "-w", "sum", code=65).stderr
    assert "terms" in switchyard.run("submit", "-w", "sums", "-p", "{}", code=65).stderr
    assert (
        "action_name"
        in switchyard.run("submit", "other", "-w", "sums", "-p", '{"terms": []}', code=65).stderr
    )
    assert "NUL" in switchyard.run("submit", "noop", "-p", '{"a": "\\u0000"}', code=65).stderr
    large = json.dumps({"a": "x" * 1_100_000})
    assert "parameters" in switchyard.run("submit", "noop", "-p", "-", code=65, stdin=large).stderr
    assert switchyard.json("list") == []


def test_many_at_once_or_none(switchyard: Switchyard) -> None:
    lines = [json.dumps({"action_name": "noop", "parameters": {"n": n}}) for n in range(500)]
    uuids = switchyard.run("submit", "--bulk", "-", stdin="\n".join(lines)).stdout.split()
    assert len(set(uuids)) == 500
    bad = [*lines, json.dumps({"action_name": "nobody"})]
    assert "line 501" in switchyard.run("submit", "--bulk", "-", stdin="\n".join(bad), code=65).stderr
    assert switchyard.database.execute("select count(*) from switchyard.action") == [(500,)]


def test_many_by_filter_are_counted_shown_and_confirmed(switchyard: Switchyard) -> None:
    uuids = [switchyard.run("submit", name).stdout.strip() for name in ("noop", "noop", "other")]
    for uuid in uuids:
        fail(switchyard, uuid)
    dry = switchyard.run("retrigger", "--name", "noop", "--status", "failed", "-m", "x", "--dry-run").stdout
    assert "2 would be retriggered; nothing was done." in dry
    assert "--yes" in switchyard.run("retrigger", "--name", "noop", "-m", "x", code=65).stderr
    code, screen = switchyard.on_a_terminal("retrigger", "--name", "noop", "-m", "x", answer="n\n")
    assert (code, "Retrigger 2 actions?" in screen) == (0, True)
    assert switchyard.database.execute("select count(*) from switchyard.thread where run > 1") == [(0,)]
    code, screen = switchyard.on_a_terminal("retrigger", "--name", "noop", "-m", "x", answer="y\n")
    assert "2 retriggered" in screen
    assert switchyard.database.execute("select count(*) from switchyard.thread where run = 2") == [(2,)]
    assert "name actions, or choose" in switchyard.run("cancel", "-m", "x", code=65).stderr


def test_pause_and_resume_say_who_and_why(switchyard: Switchyard) -> None:
    switchyard.run("pause", "noop", "-m", "storm", "--actor", "ann")
    assert "noop is paused by ann: storm" in switchyard.run("workers").stdout
    assert switchyard.json("workers")["paused"][0]["reason"] == "storm"
    assert "was paused already" in switchyard.run("pause", "noop", "-m", "storm").stdout
    assert "is resumed" in switchyard.run("resume", "noop", "-m", "calm").stdout


def test_an_entry_of_the_inbox_is_dismissed_with_who_and_why(switchyard: Switchyard) -> None:
    ((entry,),) = switchyard.database.execute(
        "insert into switchyard.journal (kind, subject, reason, needs_review) "
        "values ('message', 'q', 'could not be read', true) returning entry_id"
    )
    assert [row["entry_id"] for row in switchyard.json("inbox")] == [entry]
    said = switchyard.run("dismiss", str(entry), "99999", "-m", "seen", "--actor", "ann").stdout
    assert said.splitlines() == [f"{entry} is out of the inbox.", "99999 was not in the inbox."]
    assert switchyard.json("inbox") == []
    ((detail,),) = switchyard.database.execute("select detail from switchyard.journal")
    assert (detail["dismissed_by"], detail["dismissed_because"]) == ("ann", "seen")


def test_the_tree_of_callbacks_and_hostile_text_on_a_terminal(switchyard: Switchyard) -> None:
    parent = switchyard.run("submit", "noop").stdout.strip()
    [(child,)] = switchyard.database.execute(
        "insert into switchyard.action (action_name, callback, parent_uuid) values ('other', 'done', %s) returning action_uuid",
        parent,
    )
    fail(switchyard, str(child), "\x1b[2Jcleared your screen\x07")
    code, screen = switchyard.on_a_terminal("show", parent)
    assert code == 0
    assert "\x1b[2J" not in screen
    assert "\x07" not in screen
    assert re.search(r"└── .*FAILED.* done .*" + str(child), screen)


def test_tables_fit_the_terminal(switchyard: Switchyard) -> None:
    uuid = switchyard.run("submit", "noop").stdout.strip()
    fail(switchyard, uuid, "a very long error " * 30)
    for command in (["list"], ["inbox"], ["show", uuid], ["events", uuid]):
        _, screen = switchyard.on_a_terminal(*command)
        plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", screen)
        assert max(len(line.rstrip("\r")) for line in plain.split("\n")) <= 100, command
        assert (uuid[-8:] in plain) == (command[0] != "events"), "the end of an id is never cut"


def test_watch_follows_until_the_end_and_reports_how_it_ended(switchyard: Switchyard) -> None:
    good, bad = (switchyard.run("submit", "noop").stdout.strip() for _ in range(2))
    write = (
        "insert into switchyard.event (action_uuid, status, run, attempt, detail) values (%s, %s, 1, 1, %s)"
    )
    switchyard.database.execute(write, good, "RUNNING", None)
    switchyard.database.execute(write, good, "INFO", '{"progress": 0.5}')
    with switchyard.start("watch", good, "--every", "0.1") as watch:
        assert watch.stdout is not None
        assert watch.stdout.readline() == f"{good} RUNNING 1 1 0.5\n"
        switchyard.database.execute(write, good, "SUCCESSFUL", None)
        assert watch.stdout.read() == f"{good} SUCCESSFUL 1 1 0.5\n"
    assert watch.returncode == 0
    fail(switchyard, bad)
    code, screen = switchyard.on_a_terminal("watch", good, bad)
    assert code == 1
    assert "━━━━" in screen


def test_partitions_verify_and_doctor(switchyard: Switchyard) -> None:
    assert "days ahead" in switchyard.run("partitions", "--ensure", "30").stdout
    rows = switchyard.json("partitions")
    assert rows[-1]["days_ahead"] > 30
    findings = {finding["check"]: finding["state"] for finding in json.loads(_doctor(switchyard))}
    assert (
        findings["migrations"]
        == findings["connection"]
        == findings["partitions"]
        == findings["server"]
        == "good"
    )


def _doctor(switchyard: Switchyard) -> str:
    """The tests' server has fsync off, which doctor rightly calls bad."""
    return switchyard.run("doctor", "--json", code=1 if _unsafe(switchyard) else 0).stdout


def _unsafe(switchyard: Switchyard) -> bool:
    return switchyard.database.execute("show fsync") == [("off",)]


@pytest.mark.breaks_ledger
def test_doctor_and_verify_say_what_is_wrong_and_what_to_do(switchyard: Switchyard) -> None:
    uuid = switchyard.run("submit", "noop").stdout.strip()
    switchyard.database.execute("update switchyard.thread set status = 'RUNNING'")
    mismatches = json.loads(switchyard.run("verify", "--json", code=1).stdout)
    assert {row["problem"] for row in mismatches} == {
        "thread differs from its events",
        "yard differs from its thread",
    }
    assert {row["action_uuid"] for row in mismatches} == {uuid}
    switchyard.database.execute("delete from switchyard.partition_span")
    assert "run `switchyard partitions --ensure 14`" in switchyard.run("doctor", code=1).stdout
    switchyard.run("migrate", "--down", "0002", "--yes")
    assert "run `switchyard migrate`" in switchyard.run("doctor", code=1).stdout
    assert "pending  0003_fleet" in switchyard.run("migrate", "--check", code=1).stdout
    assert "applied  0003_fleet" in switchyard.run("migrate").stdout


def test_a_database_that_is_not_there_is_explained(switchyard: Switchyard) -> None:
    nowhere = "postgresql://nobody@127.0.0.1:1/none"
    gone = Switchyard(switchyard.folder, type(switchyard.database)("none", nowhere))
    assert "cannot connect to the database" in gone.run("list", code=75).stderr
