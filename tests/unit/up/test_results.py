"""What is printed at the end: only what is there."""

import sys
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from switchyard.errors import SwitchyardError
from switchyard.up.folder import prepare
from switchyard.up.results import Results, show

SAMPLE, HOOK = uuid4(), uuid4()


def results(folder: Path, status: str = "SUCCESSFUL", error: str | None = None) -> Results:
    rows: list[dict[str, Any]] = [
        {"action_uuid": SAMPLE, "status": status, "error": error, "run": 1},
        {"action_uuid": HOOK, "status": "SUCCESSFUL", "error": None, "run": 1},
    ]
    return Results(prepare(folder), SAMPLE, rows)


def test_a_failure_is_reported_with_its_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failed = results(tmp_path, "FAILED", "there are no sites")
    (failed.folder.deliveries / f"{HOOK}.json").write_text("{}")
    show(failed, 8080, stays=False)
    told = capsys.readouterr().out
    assert not failed.good
    assert "The assessment is FAILED." in told
    assert "error            there are no sites" in told
    assert "1 of 1 delivered and signed" in told
    assert " up --folder " in told


def test_a_report_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SwitchyardError, match=r"report\.html is not there"):
        show(results(tmp_path), 8080, stays=True)


@pytest.mark.parametrize("on_path", [True, False])
def test_the_command_is_shown_as_a_person_would_type_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], on_path: bool
) -> None:
    good = results(tmp_path)
    good.outputs.mkdir(parents=True)
    (good.outputs / "report.html").write_text("")
    command = tmp_path / "bin" / "switchyard"
    command.parent.mkdir()
    command.write_text("")
    command.chmod(0o755)
    monkeypatch.setattr(sys, "argv", [str(command)])
    monkeypatch.setenv("PATH", str(command.parent) if on_path else "/nowhere")
    monkeypatch.chdir(tmp_path)
    show(good, 8080, stays=True)
    told = capsys.readouterr().out
    assert (
        f"Look around: {'switchyard' if on_path else 'bin/switchyard'} show {UUID(str(SAMPLE))} -c " in told
    )
    assert "Still running; Ctrl-C stops everything." in told
