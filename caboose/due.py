"""The sweep for ends that others wrote: INVALID or RETRIES_EXHAUSTED at submission, cancelled, by plain SQL.

`callbacks_due` is a note that survives everything: until it is cleared, in the transaction that inserts the
callbacks, this sweep comes back. Before that it asks the backend to stop what may still run.
"""

from typing import Any

from caboose.archive import Archive
from caboose.cancel import stopped
from caboose.ledger import Due, Ledger
from caboose.means import Means
from caboose.territory import Territory
from switchyard.errors import SwitchyardError
from switchyard.places import Places
from switchyard.process.log import bound, get_logger

log = get_logger(__name__)


class DueSweep:
    """The loop that makes the callbacks nobody has made yet."""

    name = "due callbacks"

    def __init__(self, ledger: Ledger, territory: Territory, means: Means) -> None:
        self._ledger = ledger
        self._territory = territory
        self._means = means

    async def run_once(self) -> float | None:
        """One batch; a full one is followed by another at once."""
        most = self._means.config.caboose.batch
        buckets = self._territory.shard.buckets
        due = await self._ledger.due(self._territory.not_ours, buckets, most)
        done = 0
        for end in filter(self._in_charge, due):
            with bound(action_uuid=end.uuid):
                done += await self._follow_up(end)
        self._means.metrics.called_back.inc(done)
        return 0.0 if done == most else self._means.config.caboose.poll

    def _in_charge(self, end: Due) -> bool:
        """What a standby cannot stop is the leader's to follow up."""
        source = self._territory.sources.get(end.action_name)
        return source is None or source.in_charge()

    async def _follow_up(self, end: Due) -> int:
        """Stop it, then call back; what fails now is due again at the next pass."""
        try:
            was_stopped = await self._stop(end)
            output = await _output(self._means.archive, end)
            async with self._ledger.transaction():
                ours = await self._means.recorder.call_back(
                    self._ledger, {end.uuid: end.run}, {end.uuid: output}
                )
                if ours and was_stopped:
                    note = stopped(end.uuid, end.run, f"its action ended {end.status}")
                    await self._ledger.insert_events([note])
        except SwitchyardError as error:
            log.warning("an end could not be followed up", status=str(end.status), error=str(error))
            return 0
        return len(ours)

    async def _stop(self, end: Due) -> bool:
        source = self._territory.sources.get(end.action_name)
        if source is None or end.workflow is None:
            return False
        await source.stop_execution(end.uuid, end.run, f"its action ended {end.status}")
        self._means.metrics.stopped.labels(source.name).inc()
        return True


async def _output(archive: Archive, end: Due) -> Any:
    """Only a workflow has one."""
    return None if end.workflow is None else await archive.output_of(Places(end.uuid, end.run))
