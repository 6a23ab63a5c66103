"""Starting, sharing, stopping and dying."""

import os
import shutil
import signal
import subprocess
from contextlib import ExitStack
from pathlib import Path

import psutil
import psycopg
import pytest

from switchyard.embedded import EmbeddedPostgres
from switchyard.embedded.postmaster import found_or_cleared
from switchyard.embedded.use import alone
from switchyard.errors import EmbeddedPostgresError
from tests.integration.embedded.program import user_of
from tests.waiting import until


def family(pid: int) -> list[psutil.Process]:
    """The keeper, the postmaster and its children."""
    postmaster = psutil.Process(pid)
    keeper = postmaster.parent()
    assert keeper is not None
    return [keeper, postmaster, *postmaster.children()]


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


def test_the_last_user_in_a_process_stops_it(folder: Path) -> None:
    first, second = EmbeddedPostgres(folder), EmbeddedPostgres(folder)
    first.start()
    second.start()
    assert first.pid == second.pid
    first.stop()
    first.stop()
    assert second.running()
    psycopg.connect(second.url).close()
    second.stop()
    assert not second.running()


def test_another_process_uses_the_same_and_may_leave_first_or_last(folder: Path) -> None:
    with user_of(folder) as other:
        state, pid = other.says()
        assert state == "up"
        with EmbeddedPostgres(folder) as postgres:
            assert postgres.pid == int(pid)
            assert other.leave() == 0
            assert postgres.running()
        assert not postgres.running()


def test_two_and_more_starts_at_once_make_one_server(place: Path) -> None:
    with ExitStack() as stack:
        users = [stack.enter_context(user_of(place / "pg")) for _ in range(4)]
        said = [user.says() for user in users]
        assert len({pid for _, pid in said}) == 1
        assert {state for state, _ in said} == {"up"}
        assert [user.leave() for user in users] == [0] * 4
    assert not EmbeddedPostgres(place / "pg").running()


def test_a_user_that_is_killed_leaves_no_server_behind(folder: Path) -> None:
    with user_of(folder) as user:
        pid = int(user.says()[1])
        everything = family(pid)
        user.kill()
    until(lambda: not any(process.is_running() for process in everything), 30)
    assert not (folder / "data" / "postmaster.pid").exists(), "it was shut down, not killed"


def test_everything_killed_loses_nothing_that_was_committed(folder: Path) -> None:
    with user_of(folder) as user:
        pid = int(user.says()[1])
        with psycopg.connect(EmbeddedPostgres(folder).url, autocommit=True) as connection:
            connection.execute("create table committed as select generate_series(1, 1000) as n")
            kill([*family(pid), psutil.Process(user.process.pid)])
    assert (folder / "data" / "postmaster.pid").exists()
    with EmbeddedPostgres(folder) as postgres, psycopg.connect(postgres.url) as connection:
        assert connection.execute("select count(*) from committed").fetchone() == (1000,)
        connection.execute("drop table committed")


def test_a_server_that_died_under_its_user_is_started_again(folder: Path) -> None:
    with EmbeddedPostgres(folder) as postgres:
        kill(family(postgres.pid)[1:])
        assert not postgres.running()
        with EmbeddedPostgres(folder) as again:
            psycopg.connect(again.url).close()
        psycopg.connect(postgres.url).close()
    assert not postgres.running()


def test_without_its_keeper_the_server_is_found_and_ended(folder: Path) -> None:
    with user_of(folder) as user:
        pid = int(user.says()[1])
        kill(family(pid)[:1])
        user.kill()
    assert not gone(pid)
    with EmbeddedPostgres(folder) as postgres:
        assert postgres.pid == pid
    assert gone(pid)


def test_a_pid_that_is_somebody_else_now_is_not_in_the_way(folder: Path) -> None:
    with EmbeddedPostgres(folder) as postgres:
        text = (folder / "data" / "postmaster.pid").read_text()
        old = postgres.pid
    (folder / "data" / "postmaster.pid").write_text(text.replace(str(old), str(os.getpid()), 1))
    with EmbeddedPostgres(folder) as postgres:
        psycopg.connect(postgres.url).close()


def test_the_keeper_passes_a_stop_on(folder: Path) -> None:
    """As a service manager does when it ends a whole group of processes."""
    with EmbeddedPostgres(folder) as postgres:
        pid = postgres.pid
        family(pid)[0].send_signal(signal.SIGTERM)
        until(lambda: gone(pid), 30)
        assert not (folder / "data" / "postmaster.pid").exists()


def test_leftover_backends_are_waited_for_before_the_stale_file_goes(place: Path) -> None:
    """Two servers on one data folder would destroy it."""
    stale = place / "postmaster.pid"
    stale.write_text("1\n")
    backend_program = shutil.copy(shutil.which("cat") or "", place / "postgres")
    with subprocess.Popen([backend_program], cwd=place, stdin=subprocess.PIPE) as backend:
        with pytest.raises(EmbeddedPostgresError, match="still run on"):
            found_or_cleared(place.resolve(), within=0.05)
        assert stale.exists()
        assert backend.stdin is not None
        backend.stdin.close()
    assert found_or_cleared(place.resolve(), within=5) is None
    assert not stale.exists()


def test_a_shell_in_the_folder_is_not_in_the_way(folder: Path) -> None:
    with (
        subprocess.Popen(["cat"], cwd=folder / "data", stdin=subprocess.PIPE),
        EmbeddedPostgres(folder) as postgres,
    ):
        psycopg.connect(postgres.url).close()


def test_a_start_that_takes_too_long_says_so_and_leaves_no_server(folder: Path) -> None:
    with pytest.raises(EmbeddedPostgresError, match="is not ready after 0 s"):
        EmbeddedPostgres(folder, within=0.001).start()
    with EmbeddedPostgres(folder) as postgres:
        psycopg.connect(postgres.url).close()
    assert not postgres.running()


def test_a_start_waits_only_so_long_for_another(place: Path) -> None:
    with alone(place / "start.lock", 1), pytest.raises(EmbeddedPostgresError, match="another process"):
        EmbeddedPostgres(place, within=0.05).start()


def test_a_large_log_is_put_aside_at_the_next_start(folder: Path) -> None:
    log = EmbeddedPostgres(folder).log_file
    os.truncate(log, 17 << 20)
    with EmbeddedPostgres(folder):
        assert log.stat().st_size < 1 << 20
        assert log.with_name("postgres.log.1").stat().st_size == 17 << 20


def test_not_started(folder: Path) -> None:
    postgres = EmbeddedPostgres(folder)
    postgres.stop()
    with pytest.raises(Exception, match="no embedded Postgres runs"):
        _ = postgres.url
