"""The health and metrics server of a program.

`/livez`   the loop ticked recently. Independent of the database, because a restart would not repair it.
`/readyz`  every named check passes; else 503, with the reasons in the body.
`/metrics` Prometheus.

Responses have names and short reasons, never the text of an unexpected exception, and secrets are masked.
"""

import asyncio
import errno
import os
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from types import TracebackType
from typing import Self

from aiohttp import web
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder

from switchyard.errors import AddressInUse, ConfigError
from switchyard.process.log import get_logger
from switchyard.process.redact import redact

# Probes usually give up after a second or more; an answer with the reason is better than none.
CHECKS_WITHIN = 0.9

Live = Callable[[], bool]
Ready = Callable[[], Awaitable[Mapping[str, bool | str]]]

log = get_logger(__name__)


class HealthServer:
    """Listens from `start()` to `stop()`; with port 0 the system picks one, see `port`."""

    def __init__(
        self, program: str, host: str, port: int, live: Live, ready: Ready, registry: CollectorRegistry
    ) -> None:
        self._program = program
        self.host = host
        self.port = port
        self._live, self._ready, self._registry = live, ready, registry
        app = web.Application(client_max_size=1024)
        app.router.add_get("/livez", self._livez)
        app.router.add_get("/readyz", self._readyz)
        app.router.add_get("/metrics", self._metrics)
        self._runner = web.AppRunner(app, access_log=None, handle_signals=False, shutdown_timeout=1.0)

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> None:
        """Start listening; an error explains why the address cannot be used."""
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, self.host, self.port).start()
        except OSError as failure:
            await self._runner.cleanup()
            raise _explained(failure, self._program, self.host, self.port) from failure
        self.port = self._runner.addresses[0][1]
        log.info("health server listens", host=self.host, port=self.port)

    async def stop(self) -> None:
        """Stop listening; requests under way have a second."""
        await self._runner.cleanup()

    async def _livez(self, _request: web.Request) -> web.Response:
        live = self._live()
        return _answer(live, {"live": live})

    async def _readyz(self, _request: web.Request) -> web.Response:
        checks = await self._checked()
        ready = all(state is True for state in checks.values())
        return _answer(ready, {"ready": ready, "checks": checks})

    async def _checked(self) -> dict[str, bool | str]:
        try:
            async with asyncio.timeout(CHECKS_WITHIN):
                states = await self._ready()
        except TimeoutError:
            return {"checks": f"no answer within {CHECKS_WITHIN} s"}
        except Exception as failure:
            log.exception("a readiness check failed", failure=type(failure).__name__)
            return {"checks": f"failed with {type(failure).__name__}; the log has the rest"}
        return {name: redact(state) if isinstance(state, str) else state for name, state in states.items()}

    async def _metrics(self, request: web.Request) -> web.Response:
        encode, kind = choose_encoder(request.headers.get("Accept", ""))
        # A collector may look something up; the loop must not wait for it.
        body = await asyncio.to_thread(encode, self._registry)
        return web.Response(body=body, headers={"Content-Type": kind})


def _answer(good: bool, body: Mapping[str, object]) -> web.Response:
    status = HTTPStatus.OK if good else HTTPStatus.SERVICE_UNAVAILABLE
    return web.json_response(body, status=status, headers={"Cache-Control": "no-store"})


def _explained(failure: OSError, program: str, host: str, port: int) -> ConfigError:
    where = f"the health server cannot listen on {host}:{port}"
    if failure.errno == errno.EADDRINUSE:
        return AddressInUse(
            f"{where}: another process has this port; stop it, choose another port, "
            f"or let the system choose one with SWITCHYARD_{program.upper()}__HEALTH__PORT=0"
        )
    if failure.errno == errno.EACCES:
        return ConfigError(f"{where}: no permission; ports below 1024 need privileges")
    # Since Python 3.13 asyncio reports an address that is not available on this machine without its errno.
    if failure.errno in (errno.EADDRNOTAVAIL, None):
        return ConfigError(f"{where}: this machine has no such address")
    return ConfigError(f"{where}: {os.strerror(failure.errno) if failure.errno else failure}")
