"""The token bucket that all instances share: one row in the database, exact by its row lock."""

from conductor.session.session import Session
from switchyard.ledger.queries import query

TAKE = query("conductor", "take_tokens")
GIVE = query("conductor", "give_tokens")


class FleetBucket:
    """Takes from the shared row once a claim, and returns what the claim did not need."""

    def __init__(self, name: str, rate: float, burst: int) -> None:
        self._name = name
        self._rate = rate
        self._burst = burst

    async def take(self, session: Session, wanted: int) -> tuple[int, float]:
        """How many were there, up to `wanted`; with none, the seconds until there is one."""
        values = {"name": self._name, "rate": self._rate, "burst": self._burst, "wanted": wanted}
        [[taken, wait]] = await session.rows(TAKE, values)
        return taken, wait

    async def put_back(self, session: Session, tokens: int) -> None:
        """Return tokens that nothing was dispatched for."""
        await session.rows(GIVE, {"name": self._name, "burst": self._burst, "tokens": tokens})
