"""Inbox entries that do not belong to a thread, or about a thread that cannot be completed."""

from collections.abc import Mapping

from caboose.metrics import CabooseMetrics
from caboose.queries import Queries


class Inbox:
    """Adds and resolves entries, on one loop's connection."""

    def __init__(self, queries: Queries, metrics: CabooseMetrics) -> None:
        self._queries = queries
        self._metrics = metrics

    async def add(
        self, kind: str, subject: str, reason: str, key: str, detail: Mapping[str, object] | None = None
    ) -> None:
        """Add an entry, unless one with the same kind, subject and key is open."""
        await self._queries.report(kind, subject, reason, key, detail or {})
        self._metrics.notices.labels(kind).inc()

    async def resolve(self, kind: str, subject: str, reason: str) -> None:
        """Close the open entries of this kind and subject, whichever caboose added them."""
        await self._queries.resolve(kind, subject, reason)
