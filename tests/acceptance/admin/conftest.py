"""The spawned `switchyard` command on a ledger of its own."""

import json
import os
import pty
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.deployment import configuration
from tests.parts.database import Database

CONFIG = {
    "actions": {"noop": {"type": "noop"}, "other": {"type": "noop"}},
    "workflows": {"sums": {"action": "noop", "input_schema": "sums.json"}},
}
SCHEMA = {"type": "object", "required": ["terms"], "properties": {"terms": {"type": "array"}}}


@dataclass(frozen=True)
class Switchyard:
    """Runs the command as a person or a program would."""

    folder: Path
    database: Database

    def run(self, *words: str, code: int = 0, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Spawn it; its exit code must be the one expected."""
        done = subprocess.run(
            [sys.executable, "-m", "switchyard", *words], cwd=self.folder, env=self.environment, input=stdin,
            capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip
        assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
        assert "Traceback" not in done.stderr
        return done

    def start(self, *words: str) -> subprocess.Popen[str]:
        """Spawn it and go on; its output can be read line by line."""
        return subprocess.Popen(
            [sys.executable, "-u", "-m", "switchyard", *words], cwd=self.folder, env=self.environment,
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def json(self, *words: str) -> Any:
        """What it prints for programs."""
        return json.loads(self.run(*words, "--json").stdout)

    @property
    def environment(self) -> Mapping[str, str]:
        return {**os.environ, "DATABASE_URL": self.database.url, "SWITCHYARD_CONFIG": str(self.folder / "switchyard.yaml"), "TZ": "Asia/Tokyo"}  # fmt: skip

    def on_a_terminal(self, *words: str, answer: str = "") -> tuple[int, str]:
        """Run it on a real terminal of 100 columns, type the answer, and return what was on the screen."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            environment = {**self.environment, "COLUMNS": "100", "LINES": "40", "TERM": "xterm"}
            os.execve(sys.executable, [sys.executable, "-m", "switchyard", *words], environment)
        if answer:
            os.write(terminal, answer.encode())
        seen = b""
        while True:
            try:
                part = os.read(terminal, 65536)
            except OSError:  # the other end closed: how Linux says end of file
                break
            if not part:
                break
            seen += part
        os.close(terminal)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), seen.decode()


@pytest.fixture
def switchyard(tmp_path: Path, database: Database) -> Switchyard:
    configuration.write(tmp_path / "switchyard.yaml", CONFIG)
    (tmp_path / "sums.json").write_text(json.dumps(SCHEMA))
    return Switchyard(tmp_path, database)
