"""Wakes up on a cancel or an end with callbacks. A notification only saves time: the next pass finds them."""

from collections.abc import Callable

from switchyard.ledger.connect import connect
from switchyard.ledger.errors import unavailable
from switchyard.ledger.queries import query

LISTEN = 30.0


class CancelListener:
    """Listens on a connection of its own and wakes the due sweep."""

    name = "listen for cancels"

    def __init__(self, url: str, wake: Callable[[], None], every: float = LISTEN) -> None:
        self._url = url
        self._every = max(every, LISTEN)
        self._wake = wake

    async def run_once(self) -> float | None:
        """Listen until the connection is lost; one may have been missed then, so wake on each start."""
        self._wake()
        with unavailable():
            connection = await connect(self._url, application_name="caboose listen")
            async with connection:
                await connection.execute(query("caboose", "listen"))
                while True:
                    async for _ in connection.notifies(timeout=self._every, stop_after=1):
                        self._wake()
                    await connection.execute(query("caboose", "round_trip"))
