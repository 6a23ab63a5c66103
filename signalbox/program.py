"""Signalbox as a program: an HTTP server in the frame that all programs share."""

import asyncio
import errno
import os
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import uvicorn
from prometheus_client import CollectorRegistry
from starlette.types import Receive, Scope, Send

from signalbox.access.failures import FailedLogins
from signalbox.access.jwt import Keys
from signalbox.app import build
from signalbox.database import Database
from signalbox.heads import BoundedHeads
from signalbox.live.poller import Live
from signalbox.metrics import SignalboxMetrics
from signalbox.site import Site
from signalbox.submissions import Submissions
from switchyard.config.config import Config
from switchyard.errors import AddressInUse, ConfigError
from switchyard.process.log import get_logger
from switchyard.process.metrics import Metrics
from switchyard.store import open_store

log = get_logger(__name__)


class SignalboxProgram:
    """The program that the frame runs."""

    name = "signalbox"

    def __init__(self, config: Config) -> None:
        self.made = Metrics(self.name)
        self._metrics = SignalboxMetrics(self.made)
        self._config = config
        self._site = make_site(config, registry=self.made.registry)
        self._app = build(self._site)
        self._server: _Server | None = None
        self._stopped = asyncio.Event()

    async def run(self) -> None:
        """Serve until `stop()`."""
        settings = self._config.signalbox
        listening = _listening(settings.listen.host, settings.listen.port)
        await self._site.database.open()
        self._server = _Server(
            uvicorn.Config(
                self._answer,
                interface="asgi3",
                http=BoundedHeads,
                loop="none",
                lifespan="off",
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_keep_alive=65,
                timeout_graceful_shutdown=round(settings.grace),
            )
        )
        if self._stopped.is_set():
            self._server.should_exit = True
        host, port = listening.getsockname()[:2]
        log.info("signalbox listens", url=f"http://{host}:{port}{settings.base_path}/")
        try:
            await self._server.serve(sockets=[listening])
        finally:
            listening.close()
            await self._site.database.close()

    def stop(self) -> None:
        """Accept no more requests, finish those in progress, end the streams."""
        self._stopped.set()
        self._site.live.close()
        if self._server is not None:
            self._server.should_exit = True

    async def apply(self, config: Config) -> None:
        """Apply a new configuration; a change of the listening address needs a restart."""
        if config.signalbox.listen != self._config.signalbox.listen:
            raise ConfigError("signalbox.listen: a change needs a restart")
        site = make_site(config, registry=self.made.registry)
        await site.database.open()
        before, self._site = self._site, site
        self._app, self._config = build(site), config
        before.live.close()
        await before.database.close()

    def alive(self) -> bool:
        """Whether the server is running."""
        return self._server is None or self._server.started or not self._stopped.is_set()

    async def ready(self) -> Mapping[str, bool | str]:
        """Whether the database answers."""
        return {"database": await self._site.database.ready()}

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._metrics.request(scope):
            await self._app(scope, receive, self._metrics.counting(scope, send))


class _Server(uvicorn.Server):
    """A server without signal handlers, because the frame has them."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def make_site(config: Config, url: str | None = None, registry: CollectorRegistry | None = None) -> Site:
    """The site of a configuration; `url` replaces the configured database."""
    address = config.database.conninfo() if url is None else url
    access = config.signalbox.access
    database = Database(address, config.signalbox.connections)
    return Site(
        config,
        database,
        Submissions(database),
        open_store(config.store),
        None if access.jwt is None else Keys(access.jwt),
        FailedLogins(),
        registry or CollectorRegistry(),
        Live(config.signalbox.poll, config.signalbox.connections),
    )


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        where = f"signalbox cannot listen on {host}:{port}"
        if error.errno == errno.EADDRINUSE:
            raise AddressInUse(
                f"{where}: another process has this port; stop it, or choose another with "
                "SWITCHYARD_SIGNALBOX__LISTEN__PORT"
            ) from error
        raise ConfigError(f"{where}: {os.strerror(error.errno) if error.errno else error}") from error
