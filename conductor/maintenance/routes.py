"""Announces which action name runs each workflow: a submission by SQL then needs the workflow only."""

from collections.abc import Callable, Collection

from conductor.maintenance.own_session import OwnSession
from switchyard.config.config import Config
from switchyard.ledger.queries import query

ANNOUNCE = query("conductor", "announce")
WITHDRAW = query("conductor", "withdraw")
EVERY = 10.0

Served = tuple[Config, Collection[str]]


class Routes:
    """Announces at the start and after a reload only: while two configurations run, the newer one decides."""

    name = "routes"

    def __init__(self, own: OwnSession, served: Callable[[], Served]) -> None:
        self._own = own
        self._served = served  # asked at every call: the configuration may have been reloaded
        self._announced: Served | None = None

    async def run_once(self) -> float:
        """Announce what is served; withdraw what is configured nowhere, once all conductors agree on that."""
        config, names = served = self._served()
        flows = config.workflows.items()
        routes = sorted((name, flow.action) for name, flow in flows if flow.action in names)
        values = {"workflows": [name for name, _ in routes], "names": [action for _, action in routes]}
        known = {"workflows": sorted(config.workflows), "config_hash": config.fingerprint()}
        async with self._own.session() as session:
            if served != self._announced:
                await session.rows(ANNOUNCE, values)
            await session.rows(WITHDRAW, known)
        self._announced = served
        return EVERY
