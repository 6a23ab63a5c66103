"""Corrects retries that were recorded while the server's clock was ahead."""

from conductor.maintenance.own_session import OwnSession
from switchyard.ledger.queries import query
from switchyard.process.log import get_logger

log = get_logger(__name__)

CORRECT_BACKOFF = query("conductor", "correct_backoff")
EVERY = 15.0
AT_ONCE = 500


class ClockCare:
    """Looks for retries whose recording time is in the future."""

    name = "clock"

    def __init__(self, own: OwnSession, every: float = EVERY) -> None:
        self._own = own
        self._every = every

    async def run_once(self) -> float | None:
        """Correct one batch; runs again at once after a full batch, and sleeps while there are no retries."""
        async with self._own.session() as session:
            [[count, retries]] = await session.rows(CORRECT_BACKOFF, {"limit": AT_ONCE})
        if count:
            log.warning("retries had been recorded while the server's clock was ahead", corrected=count)
        if count == AT_ONCE:
            return 0.0
        return self._every if retries else None
