"""Starting, sharing, stopping and dying."""

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import quote

import psutil
import psycopg
import pytest

from switchyard.embedded import launcher
from switchyard.embedded.postgres import EmbeddedPostgres
from switchyard.embedded.postmaster import clear
from switchyard.errors import EmbeddedPostgresError
from tests.integration.embedded.program import user_of
from tests.waiting import until


def family(pid: int) -> list[psutil.Process]:
    """The postmaster and its children."""
    postmaster = psutil.Process(pid)
    return [postmaster, *postmaster.children()]


def kill(processes: list[psutil.Process]) -> None:
    for process in processes:
        process.kill()
    psutil.wait_procs(processes, timeout=30)


def gone(pid: int) -> bool:
    return not psutil.pid_exists(pid) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE


def test_data_survives_stop_and_start(folder: Path) -> None:
    with EmbeddedPostgres(folder) as postgres, psycopg.connect(postgres.url) as connection:
        connection.execute("create table survives as select 42 as answer")
        pid = postgres.pid
    assert gone(pid)
    assert not postgres.running()
    with EmbeddedPostgres(folder) as postgres, psycopg.connect(postgres.url) as connection:
        assert connection.execute("select answer from survives").fetchone() == (42,)
        connection.execute("drop table survives")


def test_one_process_at_a_time_owns_a_folder(folder: Path) -> None:
    with user_of(folder) as owner:
        pid = int(owner.says()[1])
        with pytest.raises(EmbeddedPostgresError, match="another process runs"):
            EmbeddedPostgres(folder).start()
        assert not gone(pid)
        assert owner.leave() == 0
    with EmbeddedPostgres(folder) as postgres:
        psycopg.connect(postgres.url).close()


def test_of_several_starts_at_once_one_works(place: Path) -> None:
    with ExitStack() as stack:
        users = [stack.enter_context(user_of(place / "pg")) for _ in range(3)]
        said = [user.says()[0] for user in users]
        assert sorted(said) == ["error", "error", "up"]
        assert users[said.index("up")].leave() == 0


def test_a_user_that_is_killed_leaves_no_server_behind(folder: Path) -> None:
    with user_of(folder) as user:
        pid = int(user.says()[1])
        everything = family(pid)
        user.kill()
    until(lambda: not any(process.is_running() for process in everything))
    assert not (folder / "data" / "postmaster.pid").exists(), "it was shut down, not killed"


def test_everything_killed_loses_nothing_that_was_committed(folder: Path) -> None:
    with user_of(folder) as user:
        pid = int(user.says()[1])
        url = f"postgresql://switchyard@/switchyard?host={quote(str(folder / 'run'), safe='')}"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("create table committed as select generate_series(1, 1000) as n")
            kill([*family(pid), psutil.Process(user.process.pid)])
    assert (folder / "data" / "postmaster.pid").exists()
    with EmbeddedPostgres(folder) as postgres, psycopg.connect(postgres.url) as connection:
        assert connection.execute("select count(*) from committed").fetchone() == (1000,)
        connection.execute("drop table committed")


def test_a_server_that_died_is_started_again_by_the_next_owner(folder: Path) -> None:
    with EmbeddedPostgres(folder) as postgres:
        kill(family(postgres.pid))
        assert not postgres.running()
    with EmbeddedPostgres(folder) as again:
        psycopg.connect(again.url).close()


def test_a_start_right_after_its_owner_was_killed_waits_for_the_old_server(folder: Path) -> None:
    with user_of(folder) as user:
        old = int(user.says()[1])
        user.kill()
        with EmbeddedPostgres(folder) as postgres:
            assert postgres.pid != old
            psycopg.connect(postgres.url).close()


def test_a_server_whose_owner_ended_before_it_was_bound_never_starts(folder: Path) -> None:
    nobody = subprocess.Popen(["true"])
    nobody.wait()
    spec = launcher.Spec(nobody.pid, None, ["/bin/sh", "-c", "echo started"], str(folder))
    done = subprocess.run(launcher.command(spec), capture_output=True, check=True)
    assert done.stdout == b""


def test_a_signal_from_the_terminal_does_not_reach_the_server(folder: Path) -> None:
    with EmbeddedPostgres(folder) as postgres:
        assert os.getsid(postgres.pid) != os.getsid(0)


def test_a_reused_pid_does_not_prevent_a_start(folder: Path) -> None:
    with EmbeddedPostgres(folder) as postgres:
        text = (folder / "data" / "postmaster.pid").read_text()
        old = postgres.pid
    (folder / "data" / "postmaster.pid").write_text(text.replace(str(old), str(os.getpid()), 1))
    with EmbeddedPostgres(folder) as postgres:
        psycopg.connect(postgres.url).close()


def test_leftover_backends_are_waited_for_before_the_stale_file_goes(place: Path) -> None:
    """Two servers on one data folder would destroy it."""
    stale = place / "postmaster.pid"
    stale.write_text("1\n")
    backend_program = shutil.copy(shutil.which("cat") or "", place / "postgres")
    with subprocess.Popen([backend_program], cwd=place, stdin=subprocess.PIPE) as backend:
        with pytest.raises(EmbeddedPostgresError, match="still run on"):
            clear(place.resolve(), within=0.05)
        assert stale.exists()
        assert backend.stdin is not None
        backend.stdin.close()
    clear(place.resolve(), within=5)
    assert not stale.exists()


def test_a_shell_in_the_folder_is_not_in_the_way(folder: Path) -> None:
    with (
        subprocess.Popen(["cat"], cwd=folder / "data", stdin=subprocess.PIPE),
        EmbeddedPostgres(folder) as postgres,
    ):
        psycopg.connect(postgres.url).close()


def test_a_start_that_takes_too_long_reports_it_and_leaves_no_server(folder: Path) -> None:
    with pytest.raises(EmbeddedPostgresError, match="is not ready after 0 s"):
        EmbeddedPostgres(folder, within=0.001).start()
    with EmbeddedPostgres(folder) as postgres:
        psycopg.connect(postgres.url).close()
    assert not postgres.running()


LATE = """
import pathlib, time, weakref
class Thing: pass
thing = Thing()
reference = weakref.ref(thing, lambda _: (pathlib.Path({file!r}).touch(), time.sleep(1)))
del thing
"""


def test_a_stop_while_the_launcher_cannot_be_interrupted_is_not_lost(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python ignores a KeyboardInterrupt in a callback of a weak reference, and imports have such callbacks."""
    command, file = launcher.command, tmp_path / "in the callback"

    def late(spec: launcher.Spec) -> list[str]:
        *words, code = command(spec)
        return [*words, LATE.format(file=str(file)) + code]

    monkeypatch.setattr(launcher, "command", late)
    postgres = EmbeddedPostgres(folder)
    with ThreadPoolExecutor(1) as pool:
        starting = pool.submit(postgres.start)
        until(file.exists)
        server = postgres._server
        assert server is not None
        server.send_signal(launcher.FAST)
        assert server.wait(30) == -launcher.FAST
        with pytest.raises(EmbeddedPostgresError, match="does not start"):
            starting.result()


def test_a_large_log_is_put_aside_at_the_next_start(folder: Path) -> None:
    log = EmbeddedPostgres(folder).log_file
    os.truncate(log, 17 << 20)
    with EmbeddedPostgres(folder):
        assert log.stat().st_size < 1 << 20
        assert log.with_name("postgres.log.1").stat().st_size == 17 << 20


def test_not_started(folder: Path) -> None:
    postgres = EmbeddedPostgres(folder)
    postgres.stop()
    with pytest.raises(Exception, match="is not started"):
        _ = postgres.url
