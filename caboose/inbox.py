"""What belongs to no thread and a person has to see: told once, and taken back where it is over by itself."""

from collections.abc import Mapping

from caboose.ledger import Ledger
from caboose.metrics import CabooseMetrics


class Inbox:
    """One loop's way to the inbox."""

    def __init__(self, ledger: Ledger, metrics: CabooseMetrics) -> None:
        self._ledger = ledger
        self._metrics = metrics

    async def tell(
        self, kind: str, subject: str, reason: str, key: str, detail: Mapping[str, object] | None = None
    ) -> None:
        """The same key is not told again while it waits there."""
        await self._ledger.notice(kind, subject, reason, key, detail or {})
        self._metrics.notices.labels(kind).inc()

    async def over(self, kind: str, subject: str, reason: str) -> None:
        """Nobody needs to look any more, whichever caboose told it."""
        await self._ledger.notice_over(kind, subject, reason)
