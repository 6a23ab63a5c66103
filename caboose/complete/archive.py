"""Archives ended executions before their ends are recorded: record, log and output, each written once.

While the store refuses writes, executions stay in their backend, and one inbox entry gives the reason for as
long as that lasts.
"""

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from caboose.case import LATER, SOON, Case
from caboose.complete.output import Outputs
from caboose.inbox import Inbox
from caboose.isolate import NOT_ABOUT_A_CASE, Failed, answered
from caboose.metrics import CabooseMetrics
from switchyard.backends.carry_over import carry_over
from switchyard.config.config import Config
from switchyard.config.schemas import JsonSchema
from switchyard.errors import StoreError, StoreTooLarge, Transient
from switchyard.places import Places
from switchyard.process.bounded.pool import Pool
from switchyard.process.log import bound, get_logger
from switchyard.sources import Observation, Source
from switchyard.store import Store

log = get_logger(__name__)


class Archive:
    """Writes executions to the store; shared by all sources."""

    def __init__(self, store: Store, config: Config, metrics: CabooseMetrics, pool: Pool) -> None:
        self.store = store
        self.outputs = Outputs(store, config.caboose.max_output, pool)
        self._workflows = config.workflows
        self._seconds = metrics.archive_seconds

    async def write(self, source: Source, case: Case) -> None:
        """Write the execution, then read and check its output. Raises StoreError if the store refuses."""
        seen = case.observation
        with self._seconds.time():
            log_bytes = await _log_of(source, seen)
            await asyncio.to_thread(self._write, seen, log_bytes)
        checked = await self.outputs.check(seen, self._schema(case))
        case.end, case.output, case.large = checked.end, checked.output, checked.large

    async def output_of(self, case: Case) -> Any:
        """The output of a case; large ones are read again instead of being held for the batch."""
        places = Places(case.archived.uuid, case.archived.run)
        return await self.outputs.read(places)

    def _write(self, seen: Observation, log_bytes: bytes | None) -> None:
        places = Places(seen.uuid, seen.run)
        if seen.written_in is not None:
            # One that is too large to copy stays where it is: the end counts without it.
            with suppress(StoreTooLarge):
                carry_over(self.store, places, everything=True, run=seen.written_in)
        if log_bytes is not None:
            self.store.put(places.log, log_bytes, if_absent=True)
        if seen.output is not None:
            self.store.put(places.output, json.dumps(dict(seen.output)).encode(), if_absent=True)
        if seen.record is not None:
            self.store.put(places.workflow, seen.record, if_absent=True)

    def _schema(self, case: Case) -> JsonSchema | None:
        workflow = self._workflows.get(case.thread.workflow or "") if case.thread else None
        return workflow.output_schema if workflow else None


class Archiver:
    """Archives the batches of one source, and reports a store that refuses writes."""

    def __init__(self, source: Source, archive: Archive, inbox: Inbox, failed: Failed) -> None:
        self._source = source
        self._archive = archive
        self._inbox = inbox
        self._failed = failed
        self._failures = 0
        self._resolve = True  # an earlier caboose may have reported the store

    async def archive(self, cases: Sequence[Case]) -> list[Case]:
        """Archive a batch concurrently; returns the archived cases. The others stay in their backend."""
        before = self._failures
        await asyncio.gather(*map(self._one, cases))
        archived = [case for case in cases if case.end is not None]
        if self._failures > before:
            self._resolve = True
        elif self._resolve and archived:
            await self._inbox.resolve("archive", self._archive.store.url, "executions are archived again")
            self._resolve = False
        return archived

    async def _one(self, case: Case) -> None:
        correlation_id = case.thread.correlation_id if case.thread else None
        with bound(correlation_id=correlation_id, action_uuid=case.observation.uuid):
            try:
                await self._archive.write(self._source, case)
            except StoreError as error:
                self._failures += 1
                case.retry_in = LATER
                store = self._archive.store.url
                log.warning("could not archive", source=self._source.name, error=str(error))
                await self._inbox.add("archive", store, f"executions cannot be archived: {error}", store)
            except NOT_ABOUT_A_CASE:
                raise
            except Transient as error:
                case.set_aside(SOON)
                log.warning("could not archive", source=self._source.name, error=str(error))
            except Exception as error:  # noqa: BLE001 - whatever one execution has, it is its own
                await self._failed(case, error)


async def _log_of(source: Source, seen: Observation) -> bytes | None:
    """The log; one that cannot be read does not prevent the end from being recorded."""
    try:
        return await answered(source.log(seen))
    except Transient:
        raise
    except Exception as error:  # noqa: BLE001 - a stranger's file, in whatever state
        return f"the log could not be read: {error}\n".encode(errors="replace")
