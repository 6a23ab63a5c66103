"""Does not reuse connections on which the server sent unrequested data.

HTTP/1.1 matches responses to requests only by their order, so a server that answers one request twice would
decide the next delivery on that connection as well. Therefore a pooled connection is only used if no data is
waiting on it, neither in aiohttp nor in the kernel, and a host that sent unrequested data gets a new
connection for each request for a while. A second response in transit at that moment is not detected, once
per host and AVOIDED seconds. at_most_once never uses a connection twice.
"""

import os
import select
import socket
import time
from typing import TYPE_CHECKING, Any

import aiohttp

from switchyard.backends.http.fault import Interrupted

if TYPE_CHECKING:
    from aiohttp.client_reqrep import ConnectionKey
    from aiohttp.connector import Connection
    from aiohttp.tracing import Trace

AVOIDED = 600.0  # seconds for which connections to such a host are not reused
_REMEMBERED = 1000


class QuietConnector(aiohttp.TCPConnector):
    """A connector that only returns connections without waiting data."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._noisy: dict[ConnectionKey, float] = {}

    async def connect(
        self,
        req: aiohttp.ClientRequest,
        traces: "list[Trace]",
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 - the signature is aiohttp's
    ) -> "Connection":
        """The next quiet connection; noisy ones are closed, so this terminates."""
        for _ in range(self.limit + 1):
            idle = bool(self._conns.get(req.connection_key))
            connection = await super().connect(req, traces, timeout)
            protocol = connection.protocol
            if protocol is None or not (protocol.should_close or (idle and _readable(protocol.transport))):
                return connection
            if protocol.should_close or _holds_data(protocol.transport):
                self._note(req.connection_key)
            connection.close()
        raise Interrupted

    def reusable(self, req: aiohttp.ClientRequest) -> bool:
        """Whether a connection to this host may be used for another request."""
        since = self._noisy.get(req.connection_key) if self._noisy else None
        return since is None or time.monotonic() - since > AVOIDED

    def _note(self, place: "ConnectionKey") -> None:
        self._noisy.pop(place, None)
        self._noisy[place] = time.monotonic()
        if len(self._noisy) > _REMEMBERED:
            del self._noisy[next(iter(self._noisy))]


def _readable(transport: Any) -> bool:
    """Whether data or the end of the stream waits in the kernel, unread by the event loop."""
    end = None if transport is None else transport.get_extra_info("socket")
    if end is None or end.fileno() < 0:
        return True
    poll = select.poll()
    poll.register(end.fileno(), select.POLLIN)
    return bool(poll.poll(0))


def _holds_data(transport: Any) -> bool:
    """Whether the waiting bytes are HTTP data; under TLS that is unknown until they are read."""
    end = None if transport is None else transport.get_extra_info("socket")
    if end is None or end.fileno() < 0 or transport.get_extra_info("ssl_object") is not None:
        return False
    with socket.socket(fileno=os.dup(end.fileno())) as copy:
        try:
            return bool(copy.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT))
        except OSError:
            return False
