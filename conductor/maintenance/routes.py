"""Announces which action name runs each workflow: a submission by SQL then needs the workflow only."""

from collections.abc import Callable, Collection

from conductor.maintenance.own_session import OwnSession
from switchyard.config.config import Config
from switchyard.ledger.queries import query

ANNOUNCE = query("conductor", "announce")
WITHDRAW = query("conductor", "withdraw")


class Routes:
    """Writes at the start and after a reload: the conductor that started last decides."""

    name = "routes"

    def __init__(self, own: OwnSession, served: Callable[[], tuple[Config, Collection[str]]]) -> None:
        self._own = own
        self._served = served  # asked at every call: the configuration may have been reloaded

    async def run_once(self) -> None:
        """Announce what is served, and withdraw what no configuration has any more."""
        config, names = self._served()
        routes = sorted(
            (name, flow.action) for name, flow in config.workflows.items() if flow.action in names
        )
        values = {"workflows": [name for name, _ in routes], "names": [action for _, action in routes]}
        known = {"workflows": sorted(config.workflows), "config_hash": config.fingerprint()}
        async with self._own.session() as session:
            await session.rows(ANNOUNCE, values)
            await session.rows(WITHDRAW, known)
