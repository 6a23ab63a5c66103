"""What new users stumbled over, each under its number."""

import contextlib
import json
import subprocess
import sys
import time
from pathlib import Path

import psycopg
import pytest

from switchyard.cli import many
from tests.integration.cli.conftest import Command

WHY = ("-m", "because")


def test_newuser_16_a_unique_beginning_or_end_of_an_id_is_enough(switchyard: Command) -> None:
    first, second = switchyard.submitted(), switchyard.submitted("other")
    for given in (first, first.replace("-", ""), first[-8:], f"…{first[-8:]}", first[-12:].upper()):
        assert switchyard.json("show", given)["action"]["action_uuid"] == first, given
    begins = next(
        first[:size] for size in range(4, 37) if first[:size].rstrip("-") != second[:size].rstrip("-")
    )
    assert switchyard.json("show", begins)["action"]["action_uuid"] == first
    assert switchyard.json("events", second[-10:]) == []
    assert "1 canceled" in switchyard("cancel", second[-10:], *WHY).out
    assert (
        "several actions have an id that begins or ends with '0" in switchyard("show", first[:6], code=65).err
    )
    assert (
        "there is no action whose id begins or ends with 'ffff" in switchyard("show", "ffff" * 4, code=65).err
    )


def test_newuser_17_list_and_inbox_show_and_filter_by_key_correlation_and_error(switchyard: Command) -> None:
    uuid = switchyard.submitted("noop", "--key", "scene-7", "--correlation-id", "batch-1")
    other = switchyard.submitted()
    switchyard.event(uuid, "FAILED", error="No overlap with AOI")
    for command in ("list", "inbox"):
        assert {"scene-7", "batch-1"} <= set(switchyard(command).out.split())
        row = next(row for row in switchyard.json(command) if row["action_uuid"] == uuid)
        assert (row["idempotency_key"], row["correlation_id"]) == ("scene-7", "batch-1")
    for words in (("--error", "overlap WITH"), ("--key", "scene-7"), ("--correlation-id", "batch-1")):
        assert [row["action_uuid"] for row in switchyard.json("list", *words)] == [uuid], words
    assert [row["action_uuid"] for row in switchyard.json("list", "--status", "open")] == [other]
    assert switchyard.json("retrigger", "--error", "overlap", *WHY, "--dry-run") == [uuid]


def test_newuser_10_the_inbox_shows_how_many_it_does_not_show(switchyard: Command) -> None:
    for _ in range(3):
        switchyard.event(switchyard.submitted(), "FAILED", error="it broke")
    assert "The oldest 2 of 3; --limit N shows more." in switchyard("inbox", "-n", "2").out
    assert "The oldest" not in switchyard("inbox", "-n", "3").out
    assert "there are more" not in switchyard("list", "-n", "3").out


def test_the_inbox_prints_an_error_that_is_its_note_once(switchyard: Command) -> None:
    switchyard.event(switchyard.submitted(), "FAILED", error="it broke")
    switchyard.event(switchyard.submitted(), "FAILED", error="the first line\nand a second")
    printed = switchyard("inbox").out
    assert (printed.count("it broke"), printed.count("the first line")) == (1, 2)


def test_newuser_10_failed_actions_are_dismissed_by_id_and_by_filter(switchyard: Command) -> None:
    one, two, three = (switchyard.submitted() for _ in range(3))
    for uuid in (one, two, three):
        switchyard.event(uuid, "FAILED", error="it broke")
    assert "1 dismissed, 0 were not in the inbox, 0 refused." in switchyard("dismiss", one[-8:], *WHY).out
    assert "0 dismissed, 1 were not in the inbox, 0 refused." in switchyard("dismiss", one, *WHY).out
    assert {row["action_uuid"] for row in switchyard.json("inbox")} == {two, three}
    assert "2 dismissed" in switchyard("dismiss", "--error", "broke", "--since", "1h", *WHY, "--yes").out
    assert switchyard.json("inbox") == []
    assert {row["status"] for row in switchyard.json("list")} == {"FAILED"}, "they stay as they ended"
    assert switchyard.json("verify") == []


def test_newuser_22_a_wrong_folder_is_named(
    switchyard: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SWITCHYARD_CONFIG")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    monkeypatch.setenv("PGHOST", str(tmp_path))
    for command in ("list", "migrate"):
        error = switchyard(command, code=78).err
        assert error.startswith(f"switchyard: no configuration was found in {tmp_path}/empty: give -c FILE")
        assert "PG* variables name the database: cannot connect" in error


def test_the_environment_alone_names_the_database(
    switchyard: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uuid = switchyard.submitted()
    monkeypatch.delenv("SWITCHYARD_CONFIG")
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    monkeypatch.setenv("PGHOST", str(tmp_path))
    monkeypatch.setenv("SWITCHYARD_DATABASE__URL", switchyard.database.url)
    assert [row["action_uuid"] for row in switchyard.json("list")] == [uuid]
    assert switchyard.json("migrate", "--check")["steps"] == []


def test_newuser_27_show_prints_parameters_that_submit_takes(switchyard: Command) -> None:
    given = '{"a": null, "b": [true, "ü"]}'
    uuid = switchyard.submitted("noop", "-p", given)
    assert given in switchyard("show", uuid).out
    switchyard("submit", "noop", "-p", given)


def test_newuser_28_the_help_shows_a_line_of_a_bulk_file(switchyard: Command) -> None:
    words = "".join(switchyard("submit", "--help").out.replace("│", "").split())
    assert '{"workflow":"nutrient","parameters":{}}' in words
    assert "idempotency_key" in words


def test_newuser_31_every_command_has_json_and_takes_the_file_before_its_name(
    switchyard: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = str(switchyard.folder / "switchyard.yaml")
    monkeypatch.delenv("SWITCHYARD_CONFIG")
    uuid = switchyard("-c", file, "submit", "noop").out.strip()
    assert [row["action_uuid"] for row in json.loads(switchyard("-c", file, "list", "--json").out)] == [uuid]
    monkeypatch.setenv("SWITCHYARD_CONFIG", file)
    paused = {"action_name": "noop", "paused": True, "changed": True}
    assert switchyard.json("pause", "noop", *WHY) == paused
    assert switchyard.json("resume", "noop", *WHY) == {**paused, "paused": False}
    assert switchyard.json("dismiss", "17", *WHY) == [{"entry_id": 17, "result": False}]
    switchyard.event(uuid, "SUCCESSFUL")
    [line] = switchyard("watch", uuid, "--json").out.splitlines()
    assert json.loads(line)["status"] == "SUCCESSFUL"


@pytest.mark.breaks_ledger
def test_newuser_32_a_missing_partition_names_the_command(switchyard: Command) -> None:
    for table in ("action", "thread"):
        [(name,)] = switchyard.database.execute(
            "select inhrelid::regclass::text from pg_inherits join switchyard.partition_span s on true"
            f" where inhparent = 'switchyard.{table}'::regclass and now() >= s.starts_at and now() < s.ends_at"
            " and inhrelid::regclass::text like '%%' || s.suffix"
        )
        switchyard.database.execute(f"alter table switchyard.{table} detach partition {name}")
    error = switchyard("submit", "noop", code=75).err
    assert "no partition of relation" in error
    assert "switchyard partitions --ensure 14" in error


def test_newuser_0_many_rows_are_listed_in_seconds(switchyard: Command) -> None:
    switchyard.database.execute(
        "insert into switchyard.action (action_name, parameters) select 'noop', '{}' from generate_series(1, 20000)"
    )
    for words in ((), ("--json",)):
        began = time.process_time()
        lines = switchyard("list", "-n", "100000", *words).out.count("\n")
        assert lines > 20_000
        assert time.process_time() - began < 4, "200 us a row: 20 s for 100,000 would be too long"


def test_newuser_0_a_decision_about_many_is_a_statement_per_group(
    switchyard: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    switchyard.database.execute(
        "insert into switchyard.action (action_name, parameters) select 'noop', '{}' from generate_series(1, 25)"
    )
    monkeypatch.setattr(many, "GROUP", 10)
    asked: list[int] = []
    apply = many._group

    def counted(connection: object, verb: str, group: list[object], values: dict[str, str]) -> object:
        asked.append(len(group))
        return apply(connection, verb, group, values)  # type: ignore[arg-type]

    monkeypatch.setattr(many, "_group", counted)
    assert (
        "25 canceled, 0 had ended already, 0 refused."
        in switchyard("cancel", "--name", "noop", *WHY, "--yes").out
    )
    assert asked == [10, 10, 5]


def test_one_refused_action_does_not_hold_up_its_group(switchyard: Command) -> None:
    failed = [switchyard.submitted() for _ in range(5)]
    for uuid in failed:
        switchyard.event(uuid, "FAILED", error="it broke")
    waiting = switchyard.submitted()
    said = switchyard("retrigger", *failed[:3], waiting, *failed[3:], *WHY, code=1).out
    assert said.splitlines()[0] == "5 retriggered, 1 refused."
    assert waiting in said


def test_ctrl_c_leaves_whole_groups_done(switchyard: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    uuids = sorted(switchyard.submitted() for _ in range(5))
    monkeypatch.setattr(many, "GROUP", 2)
    apply, groups = many._group, []

    def interrupted(connection: object, verb: str, group: list[object], values: dict[str, str]) -> object:
        groups.append(group)
        if len(groups) == 3:
            raise KeyboardInterrupt
        return apply(connection, verb, group, values)  # type: ignore[arg-type]

    monkeypatch.setattr(many, "_group", interrupted)
    said = switchyard("cancel", "--name", "noop", *WHY, "--yes", code=130)
    assert "4 canceled" in said.out
    assert "Interrupted: 1 actions are unchanged. The same command continues." in said.err
    assert [row["action_uuid"] for row in switchyard.json("list", "--status", "open")] == uuids[4:]


def test_security_l6_names_and_texts_do_not_control_the_terminal(switchyard: Command) -> None:
    parent = switchyard.submitted()
    switchyard.database.execute(
        "insert into switchyard.action (action_name, callback, parent_uuid) values (%s, %s, %s)",
        "x\x1b[2J", "y\x9b2J\x1b]0;title\x07", parent,
    )  # fmt: skip
    for words in (("show", parent), ("list",), ("show", parent, "--json"), ("list", "--json")):
        shown = switchyard(*words).out
        assert not {"\x1b", "\x9b", "\x07"} & set(shown), words


@pytest.mark.breaks_ledger
def test_security_l16_show_survives_what_python_cannot_hold(switchyard: Command) -> None:
    deep = '{"a": ' + "[" * 3000 + "]" * 3000 + ', "n": ' + "9" * 5000 + "}"
    starts = ("infinity", "-infinity", "20000-01-01", "0044-03-15 BC")
    uuids = [switchyard.submitted() for _ in starts]
    switchyard.database.execute("alter table switchyard.action disable trigger all")
    for uuid, start in zip(uuids, starts, strict=True):
        set_poison(switchyard, uuid, start, deep)
        shown = switchyard.json("show", uuid)["action"]
        assert shown["action_uuid"] == uuid
        assert uuid in switchyard("show", uuid).out
    assert len(switchyard.json("list")) == len(starts)


def set_poison(switchyard: Command, uuid: str, start: str, parameters: str) -> None:
    """As far as the ledger's constraints allow it."""
    for column, value in (("start_after", start), ("parameters", parameters)):
        with contextlib.suppress(psycopg.errors.CheckViolation):
            switchyard.database.execute(
                f"update switchyard.action set {column} = %s where action_uuid = %s",
                value,
                uuid,
            )


def test_newuser_29_conductor_once_prints_what_it_did(switchyard: Command) -> None:
    words = [sys.executable, "-m", "conductor", "once", "-c", str(switchyard.folder / "switchyard.yaml")]
    for _ in range(3):
        switchyard.submitted()
    printed = [subprocess.run(words, stdout=subprocess.PIPE, check=True, text=True).stdout for _ in range(2)]
    assert printed == ["3 dispatched: 3 SUCCESSFUL\n", "Nothing was due.\n"]


def test_newuser_6_the_callbacks_of_a_successful_action_are_made_again(switchyard: Command) -> None:
    done, waiting = switchyard.submitted(), switchyard.submitted()
    switchyard.event(done, "SUCCESSFUL")
    switchyard.database.execute("update switchyard.thread set callbacks_due = false")
    said = switchyard("call-back", done[-8:], waiting, *WHY, code=1).out.splitlines()
    assert said[0] == "1 called back, 0 had callbacks due already, 1 refused."
    assert waiting in said[1]
    assert switchyard.json("show", done)["action"]["callbacks_due"]
    assert "Nothing to call back." in switchyard("call-back", "--name", "other", *WHY, "--dry-run").out
