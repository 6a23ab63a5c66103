"""Listens for cancels and ends with callbacks. Notifications only save time: the next pass finds them."""

from collections.abc import Callable

from switchyard.ledger.connect import connect
from switchyard.ledger.errors import unavailable
from switchyard.ledger.queries import query

LISTEN = 300.0  # keepalives notice a connection that died; this, a proxy that keeps one up without a server


class CancelListener:
    """Listens on a connection of its own and wakes the due sweep."""

    name = "listen for cancels"

    def __init__(
        self, url: str, wake: Callable[[], None], on_start: Callable[[], None] = lambda: None
    ) -> None:
        self._url = url
        self._wake = wake
        self._on_start = on_start

    async def run_once(self) -> float | None:
        """Listen until the connection is lost; one may have been missed then, so wake on each start."""
        self._wake()
        self._on_start()
        with unavailable():
            connection = await connect(self._url, application_name="caboose listen")
            async with connection:
                await connection.execute(query("caboose", "listen"))
                while True:
                    async for _ in connection.notifies(timeout=LISTEN, stop_after=1):
                        self._wake()
                    await connection.execute(query("caboose", "round_trip"))
