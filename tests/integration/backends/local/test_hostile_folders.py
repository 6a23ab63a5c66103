"""The process of an execution may write to its folder: what it leaves there concerns that execution alone."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from switchyard.backends.local.model import LocalAction
from switchyard.backends.local.source import LocalSource
from switchyard.backends.local.spool import folder, record
from switchyard.backends.local.spool.state import Life, look
from switchyard.backends.local.spool.survivors import end_survivors
from switchyard.sources import Notice, Observation
from switchyard.status import Status
from tests.integration.backends.local.conftest import Run, ended
from tests.waiting import until


def running(pid: int) -> bool:
    try:
        return bool(Path(f"/proc/{pid}/environ").read_bytes())  # a zombie has none
    except OSError:
        return False


def exited(spool: Path, uuid: UUID | None = None) -> Path:
    path = folder.make(spool, str(uuid or uuid4()))
    record.write(path / record.STARTED, {"version": 1, "pid": 1, "started_at": 0})
    (path / record.STDOUT).write_text("all is well")
    record.write(path / record.EXIT, {"version": 1, "code": 0, "signal": None, "reason": "exited"})
    return path


def garbage(path: Path) -> None:
    (path / record.EXIT).write_text("garbage")


def a_list(path: Path) -> None:
    (path / record.EXIT).write_text("[]")


def wrong_types(path: Path) -> None:
    (path / record.EXIT).write_text('{"code": "0", "reason": "exited"}')


def endless(path: Path) -> None:
    (path / record.EXIT).write_text('{"code": 0, "x": "' + "x" * record.LARGEST + '"}')


def a_link(path: Path) -> None:
    (path / record.EXIT).unlink()
    (path / record.EXIT).symlink_to("/proc/self/environ")


def a_fifo(path: Path) -> None:
    (path / record.EXIT).unlink()
    os.mkfifo(path / record.EXIT)


@pytest.fixture
def source(spool: Path) -> LocalSource:
    return LocalSource(LocalAction(spool=spool))


@pytest.mark.parametrize("attack", [garbage, a_list, wrong_types, endless, a_link, a_fifo])
def test_hole_30_an_exit_record_that_cannot_be_read_fails_that_execution_alone(
    spool: Path, source: LocalSource, attack: Callable[[Path], None]
) -> None:
    attack(exited(spool, bad := uuid4()))
    exited(spool, good := uuid4())
    seen = {each.uuid: each for each in source._scan() if isinstance(each, Observation)}
    assert seen[good].status is Status.SUCCESSFUL
    assert seen[bad].status is Status.FAILED
    assert "the record of its end cannot be read: exit.json" in str(seen[bad].error)


def test_hole_30_a_folder_that_raises_anything_is_reported_once(spool: Path, source: LocalSource) -> None:
    bad = exited(spool)
    (bad / record.LOCK).symlink_to("lock")  # a link to itself
    exited(spool, good := uuid4())
    notices = [each for each in source._scan() if isinstance(each, Notice)]
    assert [notice.key for notice in notices] == [bad.name]
    assert good.hex in {
        each.uuid.hex
        for each in LocalSource(LocalAction(spool=spool))._scan()
        if isinstance(each, Observation)
    }
    assert [each for each in source._scan() if isinstance(each, Notice)] == []


@pytest.mark.parametrize("stream", [record.STDOUT, record.STDERR])
@pytest.mark.parametrize("kind", ["link", "fifo", "folder"])
async def test_security_m6_a_log_that_is_not_a_regular_file_is_not_read(
    spool: Path, source: LocalSource, stream: str, kind: str
) -> None:
    uuid = uuid4()
    file = exited(spool, uuid) / stream
    file.unlink(missing_ok=True)
    match kind:
        case "link":
            file.symlink_to("/proc/self/environ")
        case "fifo":
            os.mkfifo(file)
        case "folder":
            file.mkdir()
    async with asyncio.timeout(60):
        text = await source.log(Observation(uuid, 1, Status.SUCCESSFUL))
    assert text is not None
    assert f"[{stream} cannot be read".encode() in text
    assert b"PATH=" not in text


async def test_security_m6_an_exit_that_was_forged_while_it_ran_is_overwritten(run: Run) -> None:
    path = await run("import time; print('up', flush=True); time.sleep(60)")
    until((path / record.STDOUT).read_bytes)  # from here on the supervisor hears signals
    (path / record.EXIT).write_text('{"code": 0, "signal": null, "reason": "exited"}')
    assert look(path).life is Life.RUNNING
    pid = record.read(path / record.STARTED)
    assert pid is not None
    os.kill(pid["pid"], signal.SIGTERM)
    exit_record = ended(path).exit
    assert exit_record is not None
    assert exit_record["reason"] == "stopped"


async def test_hole_29_what_outlives_a_killed_supervisor_is_ended_before_the_death_is_reported(
    run: Run, spool: Path, source: LocalSource, tmp_path: Path
) -> None:
    uuid, alive = uuid4(), tmp_path / "alive"
    grandchild = "import pathlib, sys, time, os; pathlib.Path(sys.argv[1]).write_text(str(os.getpid())); time.sleep(120)"
    code = f"import subprocess, sys; subprocess.run([sys.executable, '-S', '-c', {grandchild!r}, {str(alive)!r}])"
    environment = {"SWITCHYARD_ACTION_UUID": str(uuid), "SWITCHYARD_RUN": "1"}
    path = await run(code, uuid, environment=environment)
    until(lambda: alive.exists() and bool(alive.read_text()))
    pid = int(alive.read_text())
    started = record.read(path / record.STARTED)
    assert started is not None
    os.kill(started["pid"], signal.SIGKILL)
    until(lambda: look(path).life is Life.DIED)
    (seen,) = source._scan()
    assert isinstance(seen, Observation)
    assert seen.status is Status.FAILED
    until(lambda: not running(pid))


def test_hole_29_no_other_process_is_ended() -> None:
    """The same action in another run, and another action."""
    uuid = uuid4()
    others = [
        subprocess.Popen(
            [sys.executable, "-S", "-c", "import time; time.sleep(60)"],
            env={"SWITCHYARD_ACTION_UUID": str(named), "SWITCHYARD_RUN": run},
        )
        for named, run in ((uuid, "2"), (uuid4(), "1"), (uuid, "11"))
    ]
    try:
        assert end_survivors(uuid, 1) == 0
        assert [other.poll() for other in others] == [None, None, None]
    finally:
        for other in others:
            other.kill()
            other.wait()


async def test_security_m10_a_secret_of_the_environment_is_masked_in_what_is_stored(run: Run) -> None:
    code = (
        "import os, sys; print(os.environ['TOKEN']); print(os.environ['TOKEN'], file=sys.stderr); sys.exit(3)"
    )
    path = await run(code, environment={"TOKEN": "Zk9qWerTx7Lm2VbN"}, secrets=["Zk9qWerTx7Lm2VbN"])
    ended(path)
    for name in (record.STDOUT, record.STDERR):
        assert (path / name).read_text() == "[redacted]\n"
