"""A small JSON client of the Kubernetes API, on the official package's configuration, TLS and sessions.

The package's generated calls turn every answer into models and back; here answers stay what they are, pages
and watches are read as they come, and a 401 reloads the credentials from their files, once a request.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import aiohttp
from kubernetes.aio import client as official

from switchyard import __version__
from switchyard.backends.kubernetes.answer import RefusedError
from switchyard.backends.kubernetes.credentials import Credentials
from switchyard.errors import ClusterUnreachable

MERGE_PATCH = "application/merge-patch+json"
WATCH_SILENCE = 100.0  # an idle watch gets a bookmark every minute; longer silence is a dead connection

Query = Mapping[str, str | int]


class Cluster:
    """One API server, for one set of credentials."""

    def __init__(self, credentials: Credentials, *, timeout: float = 15.0) -> None:
        self._credentials = credentials
        self._timeout = timeout
        self._api: Any = None
        self._retired: list[Any] = []
        self._connecting = asyncio.Lock()

    async def start(self) -> None:
        """Read the credentials; raises ConfigError where there are none."""
        await self._connect(None)

    async def close(self) -> None:
        """Close the connections."""
        current, self._api = self._api, None
        await self._retire(current)
        await self._retire(None)
        await asyncio.sleep(0)  # what was aborted is closed by the loop, not by the call

    async def get(self, path: str, query: Query | None = None) -> dict[str, Any]:
        """One object, or one page of a list."""
        return await self.request("GET", path, query)

    async def create(self, path: str, body: Mapping[str, Any], query: Query | None = None) -> dict[str, Any]:
        """POST to a collection."""
        return await self.request("POST", path, query, body)

    async def replace(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """PUT; a resourceVersion in the body is the precondition."""
        return await self.request("PUT", path, None, body)

    async def patch(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """A JSON merge patch; a resourceVersion in the body is the precondition."""
        return await self.request("PATCH", path, None, body, MERGE_PATCH)

    async def delete(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """DELETE, with DeleteOptions as the body."""
        return await self.request("DELETE", path, None, body)

    async def request(
        self,
        method: str,
        path: str,
        query: Query | None = None,
        body: Any = None,
        content_type: str = "application/json",
    ) -> dict[str, Any]:
        """Send one request and read its whole answer; RefusedError or ClusterUnreachable otherwise."""
        limits = aiohttp.ClientTimeout(total=self._timeout, sock_connect=5)
        try:
            response = await self._send(_Request(method, path, query, body, content_type, limits))
            answer = await response.read()
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ClusterUnreachable(f"Kubernetes API: {type(error).__name__} {error}".rstrip()) from error
        return _object(answer)

    async def watch(self, path: str, query: Query) -> AsyncIterator[dict[str, Any]]:
        """The events of one watch, until the server ends it; ClusterUnreachable where the connection dies."""
        limits = aiohttp.ClientTimeout(total=None, sock_connect=5, sock_read=WATCH_SILENCE)
        try:
            response = await self._send(_Request("GET", path, {**query, "watch": "true"}, limits=limits))
            try:
                async for line in response.content:
                    yield json.loads(line)
            finally:
                _abort(response)
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise ClusterUnreachable(f"Kubernetes watch: {type(error).__name__} {error}".rstrip()) from error
        except ValueError as error:  # cut in the middle of a line, or a line past the buffer
            raise ClusterUnreachable(f"Kubernetes watch: unreadable event: {error}") from error

    async def _send(self, request: "_Request") -> aiohttp.ClientResponse:
        api = self._api or await self._connect(None)
        response = await _once(api, request)
        if response.status == 401:
            response.release()
            response = await _once(await self._connect(api), request)
        if response.status >= 400:
            raise RefusedError(response.status, await response.read(), response.headers.get("Retry-After"))
        return response

    async def _connect(self, stale: Any) -> Any:
        """A client with credentials read after `stale` was found wanting; many callers reload but once."""
        async with self._connecting:
            if self._api is None or self._api is stale:
                fresh = official.ApiClient(configuration=await self._credentials.load())
                await self._retire(stale)
                self._api = fresh
            return self._api

    async def _retire(self, api: Any) -> None:
        """Requests under way on the old credentials may end; those retired before have had their time."""
        for old in self._retired:
            await old.close()
        self._retired = [] if api is None else [api]


def _object(answer: bytes) -> dict[str, Any]:
    """The JSON object that every good answer is; something in between may answer otherwise."""
    try:
        parsed = json.loads(answer)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        raise ClusterUnreachable(f"Kubernetes API: no JSON object, but {answer[:80]!r}")
    return parsed


def _abort(response: aiohttp.ClientResponse) -> None:
    """End a stream at once: a TLS shutdown would wait for a peer that may be gone."""
    connection = response.connection
    if connection is not None and connection.transport is not None:
        connection.transport.abort()
    response.close()


@dataclass(frozen=True, slots=True)
class _Request:
    method: str
    path: str
    query: Query | None = None
    body: Any = None
    content_type: str = "application/json"
    limits: aiohttp.ClientTimeout | None = None


async def _once(api: Any, request: _Request) -> aiohttp.ClientResponse:
    headers = {
        "Content-Type": request.content_type,
        "Accept": "application/json",
        "User-Agent": f"switchyard/{__version__}",
    }
    await api.update_params_for_auth(headers, [], ["BearerToken"], request.path, request.method, None)
    answer = await api.rest_client.request(
        request.method,
        api.configuration.host + request.path + (f"?{urlencode(request.query)}" if request.query else ""),
        headers=headers,
        body=request.body,
        _request_timeout=request.limits,
    )
    response = answer.response
    assert isinstance(response, aiohttp.ClientResponse)
    return response
