"""The supervisor as it is started in earnest: real processes, real signals, real kills."""

import asyncio
import os
import signal
from pathlib import Path
from uuid import uuid4

import psutil
import pytest

from switchyard.backends.local.launch import Launched, launch
from switchyard.backends.local.spool import folder, record
from switchyard.backends.local.spool.state import Life, look, stop
from switchyard.execution import name_of
from tests.integration.backends.local.conftest import Run, ended, job_of
from tests.waiting import until

SLEEP = "import time; print('up', flush=True); time.sleep(60)"


async def test_the_exit_code_output_and_environment_are_stored(run: Run) -> None:
    code = "import os,sys; print(sorted(os.environ), os.getcwd()); print('no', file=sys.stderr); sys.exit(65)"
    path = await run(code)
    state = ended(path)
    assert state.exit is not None
    assert (state.life, state.exit["code"], state.exit["reason"]) == (Life.EXITED, 65, "exited")
    said = (path / record.STDOUT).read_text()
    assert said == f"['LC_CTYPE', 'MARK'] {path / record.WORK}\n", "nothing inherited"
    assert (path / record.STDERR).read_text() == "no\n"


async def test_of_twenty_supervisors_one_starts_the_command(spool: Path, tmp_path: Path) -> None:
    path = folder.make(spool, name_of(uuid4(), 1))
    job = job_of(f"open({str(tmp_path / 'count')!r}, 'a').write('x')")
    results = await asyncio.gather(*(launch(path, job) for _ in range(20)))
    assert ended(path).life is Life.EXITED
    assert results.count(Launched.STARTED) == 1
    assert results.count(Launched.ALREADY) == 19
    assert (tmp_path / "count").read_text() == "x"


async def test_what_ended_is_not_started_again(run: Run, tmp_path: Path) -> None:
    code = f"open({str(tmp_path / 'count')!r}, 'a').write('x')"
    path = await run(code)
    ended(path)
    assert await launch(path, job_of(code)) is Launched.ALREADY
    assert (tmp_path / "count").read_text() == "x"


async def test_the_command_runs_in_a_separate_session(run: Run) -> None:
    path = await run("import os,time; print(os.getpid(), flush=True); time.sleep(60)")
    pid = int(until(lambda: (path / record.STDOUT).exists() and (path / record.STDOUT).read_text()))
    process = psutil.Process(pid)
    assert os.getsid(pid) == pid
    assert os.getpid() not in [parent.pid for parent in process.parents()], (
        "detached: our death is none of its"
    )
    stop(path)
    assert ended(path).exit is not None


async def test_stop_ends_the_whole_group_first_kindly(run: Run) -> None:
    code = "import os,time\nfor i in range(3): os.fork()\nprint(os.getpid(), flush=True); time.sleep(60)"
    path = await run(code)
    pids = until(lambda: numbers if len(numbers := _numbers(path)) == 8 else [])
    assert look(path).life is Life.RUNNING
    stop(path)
    state = ended(path)
    assert state.exit is not None
    assert (state.exit["reason"], state.exit["signal"]) == ("stopped", signal.SIGTERM)
    assert not any(psutil.pid_exists(pid) for pid in pids)


async def test_a_process_that_ignores_sigterm_is_killed_after_the_grace(run: Run) -> None:
    code = "import signal,time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"
    path = await run(code, grace=0.2)
    until(lambda: _text(path) == "up\n")
    stop(path)
    state = ended(path)
    assert state.exit is not None
    assert (state.exit["reason"], state.exit["signal"]) == ("stopped", signal.SIGKILL)


async def test_the_time_limit(run: Run) -> None:
    state = ended(await run(SLEEP, time=0.3))
    assert state.exit is not None
    assert (state.exit["reason"], state.exit["code"]) == ("timed out", None)


async def test_the_memory_limit(run: Run) -> None:
    path = await run("x = bytearray(600_000_000)", memory=300_000_000)
    state = ended(path)
    assert state.exit is not None
    assert state.exit["code"] == 1
    assert "MemoryError" in (path / record.STDERR).read_text()


async def test_output_is_cut_in_the_middle(run: Run) -> None:
    path = await run("print('begin'); print('x' * 5_000_000); print('end')")
    assert ended(path).life is Life.EXITED
    said = (path / record.STDOUT).read_text()
    assert len(said) < 200_000
    assert said.startswith("begin\n")
    assert said.endswith("xxx\nend\n")
    assert "bytes left out" in said


async def test_an_escaped_grandchild_does_not_outlive_the_execution(run: Run) -> None:
    code = (
        "import os,time\n"
        "ready, write = os.pipe()\n"
        "if os.fork() == 0:\n"
        " os.setsid()\n"
        " if os.fork() == 0:\n"
        "  print(os.getpid(), flush=True); os.write(write, b'.'); time.sleep(60)\n"
        " os._exit(0)\n"
        "os.read(ready, 1)"
    )
    path = await run(code)
    state = ended(path)
    assert state.exit is not None
    assert state.exit["code"] == 0
    (pid,) = _numbers(path)
    assert not psutil.pid_exists(pid)


async def test_a_command_that_is_not_there_reports_it(run: Run) -> None:
    state = ended(await run("", argv=["no-such-command"]))
    assert state.exit is not None
    assert state.exit["reason"] == "could not run: no-such-command: No such file or directory"


@pytest.mark.parametrize("name", [record.WORK, record.STDOUT])
async def test_what_cannot_be_made_on_the_disk_is_a_start_to_be_tried_again(spool: Path, name: str) -> None:
    """A full disk looks like this: the folder is there, and nothing more can be made in it."""
    path = folder.make(spool, name_of(uuid4(), 1))
    in_the_way = path / name
    in_the_way.symlink_to("/nowhere/at/all")
    assert await launch(path, job_of("print('up')")) is Launched.BROKEN
    assert not (path / record.STARTED).exists()
    in_the_way.unlink()
    assert await launch(path, job_of("print('up')")) is Launched.STARTED
    state = ended(path)
    assert state.exit is not None
    assert state.exit["code"] == 0


async def test_a_killed_supervisor_takes_its_process_along_and_counts_as_died(run: Run) -> None:
    path = await run("import os,time; print(os.getpid(), flush=True); time.sleep(60)")
    (pid,) = until(lambda: _numbers(path))
    started = record.read(path / record.STARTED)
    assert started is not None
    os.kill(started["pid"], signal.SIGKILL)
    assert ended(path).life is Life.DIED
    until(lambda: not psutil.pid_exists(pid))
    assert await launch(path, job_of(SLEEP)) is Launched.ALREADY


async def test_a_terminated_supervisor_ends_its_process_and_reports(run: Run) -> None:
    path = await run(SLEEP)
    until(lambda: _text(path) == "up\n")
    started = record.read(path / record.STARTED)
    assert started is not None
    os.kill(started["pid"], signal.SIGTERM)
    state = ended(path)
    assert state.exit is not None
    assert state.exit["reason"] == "stopped"


async def test_a_folder_without_the_mark_is_unstarted_and_can_be_started(spool: Path) -> None:
    path = folder.make(spool, name_of(uuid4(), 1))
    (path / record.LOCK).touch()
    assert look(path).life is Life.UNSTARTED
    assert await launch(path, job_of("")) is Launched.STARTED
    assert ended(path).life is Life.EXITED


async def test_what_is_stopped_before_it_was_started_never_starts(spool: Path) -> None:
    path = folder.make(spool, name_of(uuid4(), 1))
    stop(path)
    state = look(path)
    assert state.exit is not None
    assert state.exit["reason"] == "stopped before it was started"
    assert await launch(path, job_of("")) is Launched.ALREADY
    assert not (path / record.STDOUT).exists()


async def test_a_folder_that_cannot_be_written_is_broken_not_started(tmp_path: Path) -> None:
    assert await launch(tmp_path / "missing", job_of("")) is Launched.BROKEN


@pytest.mark.parametrize("death", ["before the rename", "after the rename"])
def test_a_removal_that_was_interrupted_is_finished(spool: Path, death: str) -> None:
    path = folder.make(spool, name_of(uuid4(), 1))
    (path / record.STDOUT).write_text("said")
    if death == "after the rename":
        path.rename(path.with_name(folder.GONE + path.name))
    folder.remove(path)
    folder.sweep(spool)
    assert list(spool.iterdir()) == []


def _text(path: Path) -> str:
    return (path / record.STDOUT).read_text() if (path / record.STDOUT).exists() else ""


def _numbers(path: Path) -> list[int]:
    return [int(line) for line in _text(path).split()]
