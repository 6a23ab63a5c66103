"""PgBouncer in front of a test's server; as it is by default, what conductor has to refuse."""

import os
import shutil

import psycopg

from tests.parts import guardian
from tests.parts.cache import UnavailableError
from tests.parts.ports import free_port
from tests.parts.postgres import ROOTLESS, Postgres
from tests.parts.process import Process
from tests.waiting import until

SETTINGS = """
[databases]
* = host={host} port={port} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {listen}
unix_socket_dir =
auth_type = any
pool_mode = {mode}
default_pool_size = {size}
ignore_startup_parameters = {ignored}
"""


class PgBouncer:
    """A pooling proxy; `.url(dbname)` leads through it."""

    def __init__(
        self,
        server: Postgres,
        mode: str = "transaction",
        size: int = 3,
        ignored: str = "extra_float_digits,options",
    ) -> None:
        binary = shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin")
        if binary is None:
            raise UnavailableError("pgbouncer is not installed")
        to = psycopg.conninfo.conninfo_to_dict(server.url())
        self.folder = guardian.scratch("pgbouncer")
        self.port = free_port()
        settings = self.folder / "pgbouncer.ini"
        where = {"host": to["host"], "port": to.get("port", 5432), "listen": self.port}
        settings.write_text(SETTINGS.format(**where, mode=mode, size=size, ignored=ignored))
        user = ROOTLESS if os.geteuid() == 0 else None
        self.process = Process("pgbouncer", [binary, settings], user=user, cwd=self.folder)
        self.process.start()
        until(self._ready)

    def url(self, dbname: str = "postgres") -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{dbname}"

    def close(self) -> None:
        self.process.stop()
        guardian.discard(self.folder)

    def _ready(self) -> bool:
        assert self.process.running(), f"pgbouncer ended:\n{self.process.log.read_text()}"
        try:
            psycopg.connect(self.url(), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True
