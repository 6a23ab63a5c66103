"""A user of an embedded Postgres in a process of its own, which a test can talk to and kill."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

USE = """
import sys
from pathlib import Path
from switchyard.embedded.postgres import EmbeddedPostgres
from switchyard.errors import SwitchyardError
postgres = EmbeddedPostgres(Path(sys.argv[1]))
try:
    postgres.start()
except SwitchyardError as error:
    print("error", str(error).replace(chr(10), " "), flush=True)
    sys.exit(error.exit_code)
print("up", postgres.pid, flush=True)
sys.stdin.read()
postgres.stop()
"""


class User:
    """One such process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def says(self) -> list[str]:
        assert self.process.stdout is not None
        return self.process.stdout.readline().split(maxsplit=1)

    def leave(self) -> int:
        """Let it stop in order."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(60)

    def kill(self) -> None:
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait(60)


@contextmanager
def user_of(folder: Path, **become: Any) -> Iterator[User]:
    """Start one; it is killed at the end where it still runs."""
    command = [become.get("executable", sys.executable), "-c", USE, str(folder)]
    with subprocess.Popen(
        command,
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        **become,
    ) as process:
        try:
            yield User(process)
        finally:
            process.kill()
