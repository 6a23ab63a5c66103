"""A part that runs as a child process: its log, its end, and how it dies on purpose."""

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from tests.parts import guardian, logs


class Process:
    """One server process of ours, with its output in a log that failing tests show."""

    def __init__(
        self,
        name: str,
        argv: Sequence[str | Path],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        user: str | None = None,
        logs_in: Path | None = None,
    ) -> None:
        self.name = name
        self.argv = [str(word) for word in argv]
        self.env = env
        self.cwd = cwd
        self.user = user
        self.log = logs.new(name, logs_in)
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._child is not None, f"{self.name} is not running"
        return self._child.pid

    @property
    def exit_code(self) -> int | None:
        """Of the process that was started last; None while it runs, or where it was ended from here."""
        return None if self._child is None else self._child.poll()

    def running(self) -> bool:
        return self._child is not None and self._child.poll() is None

    def start(self) -> None:
        assert not self.running(), f"{self.name} is running already"
        with self.log.open("ab") as out:
            self._child = subprocess.Popen(
                self.argv,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=self.cwd,
                env=self.env,
                user=self.user,
                start_new_session=True,  # Ctrl-C is for pytest, which then stops its parts in order
            )
        guardian.watch("pid", self._child.pid)

    def send(self, number: signal.Signals) -> None:
        """A signal to it alone."""
        os.kill(self.pid, number)

    def wait(self, seconds: float = 60) -> int:
        """Wait until it has ended; its exit code."""
        assert self._child is not None, f"{self.name} is not running"
        code = self._child.wait(seconds)
        guardian.release("pid", self._child.pid)
        return code

    def stop(self, sign: signal.Signals = signal.SIGTERM, seconds: float = 60) -> int | None:
        """Ask it to end; one that does not is killed. Its exit code, where it ran."""
        child = self._child
        if child is None:
            return None
        child.send_signal(sign)
        child.send_signal(signal.SIGCONT)  # a paused one hears nothing else
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
        self._ended()
        return child.returncode

    def kill(self) -> None:
        """End it and all it has started with SIGKILL, as a power cut would."""
        if self._child is not None and self._child.poll() is None:
            parent = psutil.Process(self._child.pid)
            family = [parent, *parent.children(recursive=True)]
            for member in family:
                _kill(member)
            self._child.wait()
            psutil.wait_procs(family, timeout=10)
        self._ended()

    def _ended(self) -> None:
        if self._child is not None:
            guardian.release("pid", self._child.pid)
        self._child = None

    def behead(self) -> list[psutil.Process]:
        """SIGKILL to it alone; what it had started and left behind."""
        family = psutil.Process(self.pid).children(recursive=True)
        assert self._child is not None
        self._child.kill()
        self._child.wait()
        self._ended()
        return family

    def pause(self) -> None:
        """Stop it without a word (SIGSTOP): it keeps its sockets and answers nothing."""
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)


def _kill(member: psutil.Process) -> None:
    try:
        member.kill()
    except psutil.NoSuchProcess:
        return
