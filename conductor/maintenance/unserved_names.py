"""Action names that no conductor serves, and configured names whose handler could not start.

Actions of a name that no conductor serves wait, unless `unknown_after` is set: a conductor with an
older file, or another application's, must not end actions that it does not know. The inbox,
`switchyard doctor` and the view `switchyard.unserved` show these names.
"""

from collections.abc import Awaitable, Callable

from conductor.maintenance.own_session import OwnSession
from switchyard.config.config import Config
from switchyard.ledger.queries import query
from switchyard.process.log import get_logger

log = get_logger(__name__)

END_UNSERVED = query("conductor", "end_unserved")
EVERY = 10.0
RESTART_EVERY = 15.0
AT_ONCE = 500


class UnknownNames:
    """Ends actions as INVALID that waited longer than `unknown_after` under a name without a conductor."""

    name = "unknown names"

    def __init__(self, own: OwnSession, config: Callable[[], Config]) -> None:
        self._own = own
        self._config = config  # asked at every call: it may have been reloaded

    async def run_once(self) -> float:
        """End one batch per name; runs again at once after a full batch."""
        config = self._config()
        after = config.conductor.unknown_after
        if after is None:
            return EVERY
        values = {"names": sorted(config.actions), "after": after, "limit": AT_ONCE}
        async with self._own.session() as session:
            ended = await session.rows(END_UNSERVED, values)
        for name, count in ended:
            log.error("ended INVALID: no conductor serves this action name", action=name, count=count)
        return 0.0 if any(count == AT_ONCE for _, count in ended) else EVERY


class Unserved:
    """Retries names whose handler could not start; the other names are served meanwhile."""

    name = "unserved names"

    def __init__(self, start: Callable[[], Awaitable[None]]) -> None:
        self._start = start

    async def run_once(self) -> float:
        """Start the names whose handler starts now."""
        await self._start()
        return RESTART_EVERY
