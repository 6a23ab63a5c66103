"""The spool of this host as a source: an exit file is the end; a process that died without one failed."""

import asyncio
import json
import signal
import time
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any
from uuid import UUID

from switchyard.backends.local.model import LocalAction
from switchyard.backends.local.spool import folder, owner, record
from switchyard.backends.local.spool.folder import Execution
from switchyard.backends.local.spool.state import Life, State, look, stop
from switchyard.backends.local.spool.survivors import end_survivors
from switchyard.backends.set_aside import SetAside
from switchyard.backends.threads import Threads
from switchyard.errors import Transient
from switchyard.execution import WHOLE, Shard, name_of
from switchyard.process.exit import Exit
from switchyard.sources import Observation, Seen
from switchyard.status import Status

EVERY = 0.25
REPORT_AGAIN = 10.0
TAIL = 4096
LARGEST_LOG = 2 * 1024 * 1024  # more than the supervisor stores of each stream


class LocalSource:
    """Polls the spool several times a second; an end is reported until it is forgotten."""

    one_observer = False
    can_look = True

    def __init__(self, action: LocalAction, shard: Shard = WHOLE) -> None:
        self.name = f"local {action.spool}"
        self._root = action.spool
        self._shard = shard
        self._spool_id = ""
        self._reported: dict[str, tuple[Life, float]] = {}
        self._threads = Threads(4)
        self._set_aside = SetAside(self.name)

    async def start(self) -> None:
        """Claim the spool for this host, and finish removals that a crash interrupted."""
        self._spool_id = await self._threads.run(owner.claim, self._root)
        await self._threads.run(folder.sweep, self._root)

    async def observations(self) -> AsyncIterator[Seen]:
        """The changes of each poll; polling takes at most a tenth of the time."""
        while True:
            began = time.monotonic()
            for seen in await self._threads.run(self._scan):
                yield seen
            await asyncio.sleep(max(EVERY, 10 * (time.monotonic() - began)))

    def answers_for(self, uuid: UUID, handed: Mapping[str, Any], /) -> bool:
        """Whether the execution is in our spool; this source cannot see those of other hosts."""
        return handed.get("spool") == self._spool_id and self._shard.owns(uuid)

    def present(self, uuid: UUID, run: int) -> bool | None:
        """Whether the execution's folder exists."""
        return self._path(uuid, run).exists()

    async def look(self, uuid: UUID, run: int) -> Observation | None:
        """Read the execution's folder."""
        path = self._path(uuid, run)
        if not path.exists():
            return None
        try:
            return await self._threads.run(_observed, Execution(uuid, run, path))
        except OSError as error:
            raise Transient(f"{path} cannot be read: {error.strerror}") from error

    async def log(self, observation: Observation) -> bytes | None:
        """The captured output."""
        return await self._threads.run(_log, self._path(observation.uuid, observation.run))

    async def stop_execution(self, uuid: UUID, run: int, _reason: str, /) -> None:
        """Ask the supervisor to stop the process."""
        path = self._path(uuid, run)
        if path.exists():
            try:
                await self._threads.run(stop, path)
            except OSError as error:
                raise Transient(f"{path} cannot be written: {error.strerror}") from error

    async def forget(self, observation: Observation) -> None:
        """Remove the execution's folder."""
        path = self._path(observation.uuid, observation.run)
        try:
            await self._threads.run(folder.remove, path)
        except OSError as error:
            raise Transient(f"{path} cannot be removed: {error.strerror}") from error
        self._reported.pop(path.name, None)

    async def ready(self) -> bool:
        """Whether the folder of the spool can be read."""
        return self._root.is_dir()

    async def close(self) -> None:
        """Nothing to close."""

    def _path(self, uuid: UUID, run: int) -> Path:
        return self._root / name_of(uuid, run)

    def _scan(self) -> list[Seen]:
        found: list[Seen] = []
        for execution in folder.executions(self._root):
            if self._shard.owns(execution.uuid):
                found += self._seen(execution)
        return found

    def _seen(self, execution: Execution) -> list[Seen]:
        """Report one execution; errors in its folder concern only that execution."""
        name = execution.path.name
        try:
            state = look(execution.path)
            found = [observe(execution, state)] if self._worth_telling(name, state.life) else []
        except Exception as error:  # noqa: BLE001 - the process may have left any content
            notice = self._set_aside.report(name, error)
            return [] if notice is None else [notice]
        self._set_aside.recovered(name)
        return [*found]

    def _worth_telling(self, name: str, life: Life) -> bool:
        """Whether to report it: on a change, and again after a while, as the core may have dropped it."""
        reported, at = self._reported.get(name, (None, 0.0))
        now = time.monotonic()
        if reported is life and now - at < REPORT_AGAIN:
            return False
        self._reported[name] = (life, now)
        return True


def _observed(execution: Execution) -> Observation:
    return observe(execution, look(execution.path))


def observe(execution: Execution, state: State) -> Observation:
    """The observation for a folder's state. Survivors of a dead supervisor are killed before the report."""
    uuid, run, path = execution.uuid, execution.run, execution.path
    if state.life is Life.UNSTARTED:
        return Observation(uuid, run, Status.QUEUED)
    if state.life is Life.RUNNING:
        return Observation(uuid, run, Status.RUNNING)
    if state.fault is not None:
        error = f"the record of its end cannot be read: {state.fault}"
        return Observation(uuid, run, Status.FAILED, error, record=_record({"unreadable": state.fault}))
    if state.exit is None:
        left = end_survivors(uuid, run)
        error = "the process died and left no exit status: its supervisor was killed, or the host went down"
        return Observation(uuid, run, Status.FAILED, error, record=_record({"died": True, "survivors": left}))
    return _ended(uuid, run, state.exit, _last_words(path / record.STDERR))


def _ended(uuid: UUID, run: int, exit: dict[str, Any], words: str) -> Observation:  # noqa: A002 - the exit file
    code, reason = exit.get("code"), str(exit.get("reason", "exited"))
    if code == Exit.OK and reason == "exited":
        return Observation(uuid, run, Status.SUCCESSFUL, exit_code=0, record=_record(exit))
    status = Status.TIMED_OUT if reason == "timed out" else Status.FAILED
    return Observation(
        *(uuid, run, status, _error(code, exit.get("signal"), reason, words)),
        fatal=code == Exit.BAD_INPUT or reason.startswith("could not run"),
        exit_code=code,
        record=_record(exit),
    )


def _error(code: int | None, killed_by: int | None, reason: str, words: str) -> str:
    how = reason if code is None else f"exit code {code}"
    if killed_by is not None:
        how = f"killed by {_signal(killed_by)}" if reason == "exited" else f"{reason} ({_signal(killed_by)})"
    elif reason != "exited" and code is not None:
        how = f"{reason} (exit code {code})"
    return f"{how}: {words}" if words else how


def _signal(number: int) -> str:
    return signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"


def _record(exit: Mapping[str, Any]) -> bytes:  # noqa: A002 - the exit file
    return json.dumps(exit).encode()


def _last_words(path: Path) -> str:
    """The last line written to standard error, which usually is the reason."""
    lines = [line for line in _tail(path).decode(errors="replace").splitlines() if line.strip()]
    return lines[-1].strip()[:1000] if lines else ""


def _tail(path: Path) -> bytes:
    try:
        return record.read_end(path, TAIL)
    except (OSError, record.UnreadableError):
        return b""


def _log(path: Path) -> bytes | None:
    """Both streams, each limited in size; one that cannot be read is replaced by the reason."""
    parts = []
    for name in (record.STDOUT, record.STDERR):
        try:
            text = record.read_end(path / name, LARGEST_LOG)
        except FileNotFoundError:
            continue
        except (OSError, record.UnreadableError) as error:
            text = f"[{error}]".encode()
        if text:
            parts.append(b"== %s ==\n%s\n" % (name.encode(), text))
    return b"".join(parts) or None
