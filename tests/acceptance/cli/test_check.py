"""`switchyard check` as people and programs meet it."""

import json
import re
from pathlib import Path

from switchyard.process.exit import Exit
from tests.acceptance.cli.spawning import switchyard
from tests.acceptance.cli.terminal import on_terminal

ROOT = Path(__file__).parents[3]
BAD = "conductor: {bacth: 3}\nactions: {a: {type: noop, timeout: 5}}\nsecrets: {s: hunter2}\n"


def test_a_good_file_is_summarised(tmp_path: Path) -> None:
    done = switchyard("check", "-c", str(ROOT / "config" / "switchyard.yaml"), cwd=tmp_path)
    assert done.returncode == Exit.OK
    assert "is good" in done.stdout
    assert "50 at a time, 8 attempts, 100/s per instance, breaker" in done.stdout
    assert "done, publish, report, alert" in done.stdout
    assert "warning: database.url: in this environment the secret env:DATABASE_URL" in done.stderr


def test_a_bad_file_has_every_problem_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "switchyard.yaml").write_text(BAD)
    done = switchyard("check", cwd=tmp_path)
    assert done.returncode == Exit.CONFIG
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        "switchyard.yaml:1:13: conductor.bacth: unknown key (did you mean 'batch'?)",
        "switchyard.yaml:2:27: actions.a.timeout: a number alone has no unit: write it like 30s",
        "switchyard.yaml:3:11: secrets.s: secrets are given by reference: write env:NAME or file:/path",
        "",
        "3 problems to correct.",
    ]


def test_json_for_programs(tmp_path: Path) -> None:
    (tmp_path / "switchyard.yaml").write_text(BAD)
    done = switchyard("check", "--json", cwd=tmp_path)
    assert done.returncode == Exit.CONFIG
    told = json.loads(done.stdout)
    assert told["ok"] is False
    assert told["problems"][0] == {
        "severity": "error",
        "source": "switchyard.yaml",
        "line": 1,
        "column": 13,
        "path": "conductor.bacth",
        "message": "unknown key (did you mean 'batch'?)",
    }


def test_json_of_a_good_file(tmp_path: Path) -> None:
    (tmp_path / "s.yaml").write_text("actions: {a: {type: noop}}\nworkflows: {w: {action: a}}\n")
    done = switchyard("check", "--json", cwd=tmp_path, SWITCHYARD_CONFIG="s.yaml")
    assert done.returncode == Exit.OK
    told = json.loads(done.stdout)
    assert told["ok"] is True
    assert told["file"] == "s.yaml"
    assert told["actions"] == {"a": "noop"}
    assert told["workflows"] == {"w": "a"}
    assert len(told["fingerprint"]) == 64
    assert told["problems"] == []


def test_the_environment_counts(tmp_path: Path) -> None:
    (tmp_path / "switchyard.yaml").write_text("actions: {a: {type: noop}}\n")
    done = switchyard("check", cwd=tmp_path, SWITCHYARD_CONDUCTOR__BATCH="many")
    assert done.returncode == Exit.CONFIG
    assert "environment SWITCHYARD_CONDUCTOR__BATCH: conductor.batch: must be a valid integer" in done.stderr


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    done = switchyard("check", "-c", "nowhere.yaml", cwd=tmp_path)
    assert done.returncode == Exit.CONFIG
    assert "nowhere.yaml: cannot be read: No such file or directory" in done.stderr
    assert "Traceback" not in done.stderr


def test_wrong_usage_ends_with_2(tmp_path: Path) -> None:
    done = switchyard("check", "--nope", cwd=tmp_path)
    assert done.returncode == Exit.USAGE
    assert "Traceback" not in done.stderr


def test_help_has_an_example(tmp_path: Path) -> None:
    done = switchyard("check", "--help", cwd=tmp_path)
    assert done.returncode == Exit.OK
    assert "Example: switchyard check -c" in done.stdout


def test_the_version(tmp_path: Path) -> None:
    done = switchyard("--version", cwd=tmp_path)
    assert done.returncode == Exit.OK
    assert done.stdout.startswith("switchyard 0.")


def test_the_summary_fits_a_narrow_terminal(tmp_path: Path) -> None:
    code, screen = on_terminal(
        "check", "-c", str(ROOT / "config" / "switchyard.yaml"), cwd=tmp_path, columns=60
    )
    assert code == Exit.OK
    table = screen[screen.index("fingerprint") :].split("warning")[0].splitlines()[1:-1]
    shown = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in table]
    assert max(len(line) for line in shown) <= 60
    assert any("argo_resume" in line for line in shown)


def test_newuser_2_concurrency_of_what_is_handed_over_counts_dispatches(tmp_path: Path) -> None:
    file = tmp_path / "switchyard.yaml"
    file.write_text(
        "database: {url: env:D}\n"
        "actions:\n  shell: {type: local, concurrency: 4, command: 'true'}\n  none: {type: noop, concurrency: 3}\n"
    )
    done = switchyard("check", "-c", str(file), cwd=tmp_path)
    assert "4 dispatches at a time" in done.stdout
    assert "3 at a time" in done.stdout
