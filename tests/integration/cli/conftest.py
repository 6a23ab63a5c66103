"""The commands in this process, on a ledger of their own: what they print and their exit code, without a start each."""

import io
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from switchyard.cli import main
from tests.deployment import configuration
from tests.parts.database import Database

CONFIG = {
    "actions": {"noop": {"type": "noop"}, "other": {"type": "noop"}},
    "workflows": {"sums": {"action": "noop"}},
}


class Said(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


class Command:
    """Runs `switchyard` as its entry point does."""

    def __init__(
        self,
        folder: Path,
        database: Database,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        self.folder = folder
        self.database = database
        self._patch = monkeypatch
        self._capsys = capsys

    def __call__(self, *words: str, stdin: str = "", code: int = 0) -> Said:
        """Run it; an exception that is not ours comes through and fails the test, as a traceback would."""
        self._patch.setattr(sys, "argv", ["switchyard", *words])
        self._patch.setattr(sys, "stdin", io.StringIO(stdin))
        self._capsys.readouterr()
        try:
            main()
        except SystemExit as end:
            said = Said(int(end.code or 0), *self._capsys.readouterr())
        assert said.code == code, f"{words}: {said}"
        return said

    def json(self, *words: str, code: int = 0) -> Any:
        """What it prints for programs."""
        return json.loads(self(*words, "--json", code=code).out)

    def submitted(self, *words: str) -> str:
        """The id of an action that it submits."""
        return self("submit", *(words or ("noop",))).out.strip()

    def event(self, uuid: str, status: str, **values: object) -> None:
        """A step of the action, as a program would write it."""
        detail: Mapping[str, object] | None = values.get("detail")  # type: ignore[assignment]
        self.database.execute(
            "insert into switchyard.event (action_uuid, status, run, attempt, error, detail, retry_seconds)"
            " values (%s, %s, 1, 1, %s, %s, %s)",
            uuid, status, values.get("error"), json.dumps(detail) if detail else None, values.get("retry_seconds"),
        )  # fmt: skip


@pytest.fixture
def switchyard(
    tmp_path: Path,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    logging_as_before: None,
) -> Command:
    configuration.write(tmp_path / "switchyard.yaml", CONFIG)
    monkeypatch.setenv("DATABASE_URL", database.url)
    monkeypatch.setenv("SWITCHYARD_CONFIG", str(tmp_path / "switchyard.yaml"))
    monkeypatch.setenv("TERM", "dumb")
    return Command(tmp_path, database, monkeypatch, capsys)
