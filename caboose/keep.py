"""Archiving a batch of ends. Where the store takes none the inbox says so, for as long as that lasts."""

import asyncio
from collections.abc import Callable, Sequence

from caboose.archive import Archived
from caboose.inbox import Inbox
from caboose.ledger import Thread
from caboose.means import Means
from switchyard.config.schemas import JsonSchema
from switchyard.errors import StoreError, SwitchyardError
from switchyard.process.log import bound, get_logger
from switchyard.sources import Observation, Source

log = get_logger(__name__)

SOON = 1.0
LATER = 10.0

Known = tuple[Observation, Thread | None]


class Keeper:
    """Archives for one source; `again` takes what could not be kept now."""

    def __init__(
        self, source: Source, inbox: Inbox, means: Means, again: Callable[[Observation, float], None]
    ) -> None:
        self._source = source
        self._inbox = inbox
        self._means = means
        self._again = again
        self._failures = 0
        self._doubtful = True  # a caboose before us may have told the inbox

    async def keep(self, known: Sequence[Known]) -> list[Archived | None]:
        """All at once; None where one could not be kept: it stays in its backend, and comes again."""
        before = self._failures
        kept = await asyncio.gather(*(self._one(seen, thread) for seen, thread in known))
        if self._failures > before:
            self._doubtful = True
        elif self._doubtful and any(kept):
            await self._inbox.over("archive", self._means.archive.store.url, "executions are archived again")
            self._doubtful = False
        return kept

    async def _one(self, seen: Observation, thread: Thread | None) -> Archived | None:
        with bound(correlation_id=thread.correlation_id if thread else None, action_uuid=seen.uuid):
            try:
                return await self._means.archive.keep(self._source, seen, self._schema(thread))
            except StoreError as error:
                self._failures += 1
                store = self._means.archive.store.url
                log.warning("could not archive", source=self._source.name, error=str(error))
                await self._inbox.tell("archive", store, f"executions cannot be archived: {error}", store)
                self._again(seen, LATER)
            except SwitchyardError as error:
                log.warning("could not archive", source=self._source.name, error=str(error))
                self._again(seen, SOON)
            return None

    def _schema(self, thread: Thread | None) -> JsonSchema | None:
        workflow = self._means.config.workflows.get(thread.workflow or "") if thread else None
        return workflow.output_schema if workflow else None
