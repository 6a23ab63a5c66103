"""Connections on which the other side spoke unasked are not used again.

aiohttp keeps what arrives on an idle connection and takes it for the answer to the next request there: a
server that answers one request twice would decide the next delivery as well.
"""

from typing import TYPE_CHECKING

import aiohttp

from switchyard.backends.http.fault import Interrupted

if TYPE_CHECKING:
    from aiohttp.connector import Connection
    from aiohttp.tracing import Trace


class QuietConnector(aiohttp.TCPConnector):
    """A connector that hands out only connections with nothing waiting on them."""

    async def connect(
        self,
        req: aiohttp.ClientRequest,
        traces: "list[Trace]",
        timeout: aiohttp.ClientTimeout,  # noqa: ASYNC109 - the signature is aiohttp's
    ) -> "Connection":
        """The next quiet connection; every noisy one is closed on the way, so this ends."""
        for _ in range(self.limit + 1):
            connection = await super().connect(req, traces, timeout)
            if connection.protocol is None or not connection.protocol.should_close:
                return connection
            connection.close()
        raise Interrupted
