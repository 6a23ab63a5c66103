"""The sweep for ends that others recorded: a cancel, INVALID at submission, a plain SQL insert.

`callbacks_due` survives everything: until it is cleared, in the transaction that inserts the callbacks, this
sweep comes back to the end. Before that it asks the backend to stop what may still run.
"""

import asyncio
from typing import Any

from caboose.complete.services import Services
from caboose.observe.stop import stopped
from caboose.queries import Queries
from caboose.rows import Due
from caboose.scope import Scope
from switchyard.errors import SwitchyardError
from switchyard.places import Places
from switchyard.process.log import bound, get_logger

log = get_logger(__name__)


class DueCallbacks:
    """The loop that inserts callbacks that are still due."""

    name = "due callbacks"

    def __init__(self, queries: Queries, scope: Scope, services: Services) -> None:
        self._queries = queries
        self._scope = scope
        self._services = services

    async def run_once(self) -> float | None:
        """One batch; a full one is followed by another at once."""
        most = self._services.config.caboose.batch
        due = await self._queries.due(self._scope.not_ours, self._scope.shard.buckets, most)
        done = 0
        for end in filter(self._in_charge, due):
            with bound(action_uuid=end.uuid):
                done += await self._follow_up(end)
        self._services.metrics.called_back.inc(done)
        return 0.0 if done == most else self._services.config.caboose.poll

    def _in_charge(self, end: Due) -> bool:
        """A standby cannot stop an execution, so the leader follows up its end."""
        source = self._scope.sources.get(end.action_name)
        return source is None or source.in_charge()

    async def _follow_up(self, end: Due) -> int:
        """Stop it, then insert its callbacks; where that fails, it is due again at the next pass."""
        try:
            was_stopped = await self._stop(end)
            outputs = {(end.uuid, end.run): await self._output(end)}
            async with self._queries.transaction():
                ours = await self._services.callbacks.insert(self._queries, {end.uuid: end.run}, outputs)
                if ours and was_stopped:
                    note = stopped(end.uuid, end.run, f"its action ended {end.status}")
                    await self._queries.insert_events([note])
        except SwitchyardError as error:
            log.warning("an end could not be followed up", status=str(end.status), error=str(error))
            return 0
        return len(ours)

    async def _stop(self, end: Due) -> bool:
        source = self._scope.sources.get(end.action_name)
        if source is None or end.workflow is None:
            return False
        await source.stop_execution(end.uuid, end.run, f"its action ended {end.status}")
        self._services.metrics.stopped.labels(source.name).inc()
        return True

    async def _output(self, end: Due) -> Any:
        """Only a workflow has one."""
        if end.workflow is None:
            return None
        return await asyncio.to_thread(self._services.archive.outputs.read, Places(end.uuid, end.run))
