"""The data folder: created once, atomically; its settings are written at each start."""

import os
import shutil
import subprocess
from pathlib import Path

from switchyard.embedded.account import Account
from switchyard.embedded.explain import explained
from switchyard.errors import EmbeddedPostgresError

USER = DATABASE = "switchyard"
_HERE = Path(__file__).parent
_KEPT = ("HOME", "LD_LIBRARY_PATH", "PATH", "TMPDIR")


def environment() -> dict[str, str]:
    """Only what Postgres needs: none of our secrets, none of the PG… settings; messages in plain English."""
    kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
    return {**kept, "LC_ALL": "C"}


def make(folder: Path, data: Path, install: Path, account: Account) -> None:
    """Run initdb in a temporary folder, then rename it: a killed start leaves no incomplete data."""
    new = folder / "data.new"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(mode=0o700)
    account.give(new)
    words = ["-D", str(new), "-U", USER, "--encoding=UTF8", "--locale-provider=builtin",
             "--builtin-locale=C.UTF-8", "--locale=C", "--auth-local=trust", "--auth-host=reject",
             "--data-checksums", "--no-instructions"]  # fmt: skip
    try:
        _run(folder, account, [install / "bin" / "initdb", *words])
        create = (_HERE / "create.sql").read_bytes()
        _run(folder, account, [install / "bin" / "postgres", "--single", "-D", new, "postgres"], create)
        with (new / "postgresql.conf").open("a") as conf:
            conf.write("\ninclude 'queue.conf'\n")
        new.rename(data)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise


def check(data: Path) -> None:
    """Refuse a folder that belongs to another user."""
    if not (data / "PG_VERSION").exists():
        raise EmbeddedPostgresError(f"{data} is there, but holds no Postgres data; choose another folder")


def write_settings(data: Path, account: Account, sockets: Path) -> None:
    """The settings that suit a queue, and where to listen: on a socket only."""
    quoted = '"{}"'.format(str(sockets).replace('"', '""'))
    own = {"listen_addresses": "", "port": "5432", "unix_socket_directories": quoted}
    lines = [f"{name} = {_quoted(value)}" for name, value in own.items()]
    target = data / "queue.conf"
    target.write_text((_HERE / "queue.conf").read_text() + "\n" + "\n".join(lines) + "\n")
    account.give(target)


def _quoted(value: str) -> str:
    return "'{}'".format(value.replace("\\", "\\\\").replace("'", "''"))


def _run(folder: Path, account: Account, argv: list[str | Path], given: bytes = b"") -> None:
    done = subprocess.run(  # noqa: S603 - our own arguments
        argv,
        input=given,
        cwd=folder,
        env=environment(),
        capture_output=True,
        check=False,
        **account.arguments(),
    )
    if done.returncode:
        raise explained("cannot be set up", folder, (done.stdout + done.stderr).decode(errors="replace"))
