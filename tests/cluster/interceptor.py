"""An HTTP proxy before the real API server that answers, resets or hangs where a test asks for it.

Everything else passes, watches included: what a client sees is the real server, with the faults of a
busy one.
"""

import asyncio
import contextlib
import ssl
import threading
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import yaml
from aiohttp import web

from tests.parts.kubernetes import Cluster
from tests.parts.ports import free_port

HOP_BY_HOP = {"transfer-encoding", "content-length", "connection"}


@dataclass
class Fault:
    """What happens to the next `times` requests of a method whose path contains `path`."""

    method: str
    path: str = ""
    status: int | None = None  # answer this; None: reset the connection
    passed: bool = False  # the request reaches the server all the same
    hang: float = 0.0
    times: int = 1
    headers: dict[str, str] = field(default_factory=dict)


class Interceptor:
    """Listens on loopback without TLS; `.kubeconfig(token)` leads programs through it."""

    def __init__(self, cluster: Cluster) -> None:
        self.port = free_port()
        self.answers: list[tuple[str, str, int]] = []
        self.waiting = 0
        self._cluster = cluster
        self._faults: list[Fault] = []
        self._loop = asyncio.new_event_loop()
        self._started = threading.Event()
        self._stop = asyncio.Event()
        self._release = asyncio.Event()
        self._thread = threading.Thread(target=self._loop.run_until_complete, args=(self._serve(),))

    def inject(self, fault: Fault) -> None:
        """From now on, until it is used up."""
        self._faults.append(fault)

    def clear(self) -> None:
        """No fault is left, and what hangs ends."""
        self._faults.clear()
        self._loop.call_soon_threadsafe(self._release.set)

    def kubeconfig(self, folder: Path, token: str) -> Path:
        """A kubeconfig file that reads the token from a file, as a pod's is."""
        (folder / "token").write_text(token)
        path = folder / "kubeconfig"
        cluster = {"name": "c", "cluster": {"server": f"http://127.0.0.1:{self.port}"}}
        user = {"name": "u", "user": {"tokenFile": str(folder / "token")}}
        context = {"name": "x", "context": {"cluster": "c", "user": "u"}}
        document = {"current-context": "x", "clusters": [cluster], "users": [user], "contexts": [context]}
        path.write_text(yaml.safe_dump(document))
        return path

    def count(self, method: str, status: int) -> int:
        """How often the real server answered so."""
        return sum(1 for m, _, s in self.answers if (m, s) == (method, status))

    def __enter__(self) -> "Interceptor":
        self._thread.start()
        assert self._started.wait(60)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()
        self._loop.close()

    async def _serve(self) -> None:
        context = ssl.create_default_context(cafile=str(self._cluster.authority))
        async with aiohttp.ClientSession(
            self._cluster.url, connector=aiohttp.TCPConnector(ssl=context), auto_decompress=False
        ) as self._session:
            app = web.Application(client_max_size=64 * 1024 * 1024)
            app.router.add_route("*", "/{path:.*}", self._handle)
            runner = web.AppRunner(app, shutdown_timeout=0.1, access_log=None)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", self.port).start()
            self._started.set()
            await self._stop.wait()
            self._release.set()
            await runner.cleanup()
            left = asyncio.all_tasks() - {asyncio.current_task()}  # of clients that were killed in mid-watch
            for task in left:
                task.cancel()
            await asyncio.gather(*left, return_exceptions=True)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        fault = self._take(request)
        if fault is None:
            return await self._pass(request)
        if fault.passed:
            async with self._forward(request) as upstream:
                self.answers.append((request.method, request.path, upstream.status))
                await upstream.read()
        if fault.hang:
            self.waiting += 1
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._release.wait(), fault.hang)
            self.waiting -= 1
        if fault.status is None:
            if request.transport is not None:  # else the client went away by itself
                request.transport.abort()
            return web.Response()
        return web.Response(status=fault.status, headers=fault.headers, text="injected")

    def _take(self, request: web.Request) -> Fault | None:
        for fault in self._faults:
            if fault.method == request.method and fault.path in request.path and fault.times > 0:
                fault.times -= 1
                return fault
        return None

    def _forward(self, request: web.Request) -> "aiohttp.client._RequestContextManager":
        headers = {key: value for key, value in request.headers.items() if key.lower() != "host"}
        timeout = aiohttp.ClientTimeout(total=None)
        return self._session.request(
            request.method, request.rel_url, headers=headers, data=request.content, timeout=timeout
        )

    async def _pass(self, request: web.Request) -> web.StreamResponse:
        async with self._forward(request) as upstream:
            self.answers.append((request.method, request.path, upstream.status))
            headers = {k: v for k, v in upstream.headers.items() if k.lower() not in HOP_BY_HOP}
            response = web.StreamResponse(status=upstream.status, headers=headers)
            connection = upstream.connection
            try:
                await response.prepare(request)
                async for chunk in upstream.content.iter_any():
                    await response.write(chunk)
                await response.write_eof()
            except (asyncio.CancelledError, ConnectionError):
                if connection is not None and connection.transport is not None:
                    connection.transport.abort()  # a TLS shutdown would outlive the loop
                raise
            return response
