"""Retries that were recorded while the server's clock was ahead: they recover as soon as the clock does."""

from conductor.maintenance.own_session import OwnSession
from switchyard.ledger.queries import query
from switchyard.process.log import get_logger

log = get_logger(__name__)

CORRECT_BACKOFF = query("conductor", "correct_backoff")
EVERY = 15.0
AT_ONCE = 500


class ClockCare:
    """Looks for retries whose time of recording is in the future."""

    name = "clock"

    def __init__(self, own: OwnSession, every: float = EVERY) -> None:
        self._own = own
        self._every = every

    async def run_once(self) -> float | None:
        """One batch; at once again where it was a full one. While nothing is to be retried, it sleeps."""
        async with self._own.session() as session:
            [[count, retries]] = await session.rows(CORRECT_BACKOFF, {"limit": AT_ONCE})
        if count:
            log.warning("retries had been recorded while the server's clock was ahead", corrected=count)
        if count == AT_ONCE:
            return 0.0
        return self._every if retries else None
