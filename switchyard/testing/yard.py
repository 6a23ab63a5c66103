"""A client that also runs actions, in its own process."""

import asyncio
from collections import Counter
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from switchyard.client.blocking import Switchyard
from switchyard.client.records import Thread
from switchyard.client.statements import ActionId
from switchyard.ledger.connect import connect_sync
from switchyard.ledger.queries import query

if TYPE_CHECKING:
    from switchyard.config.config import Config

ROUNDS = 100  # of `drain`, in case actions submit actions endlessly


class InProcessYard(Switchyard):
    """The plugin's `yard`: every verb of Switchyard, and `run` and `drain`.

    Both run conductor in a thread of this process with your configuration, so monkeypatched objects are also
    replaced for handlers. Neither waits: an action that is not due yet is not run. An action that is handed
    over (argo, sqs, local, …) ends up QUEUED, because there is no caboose.
    """

    def run(self, action: ActionId) -> Thread:
        """Dispatch only this action, regardless of what else is due; returns its state afterwards."""
        before = self.status(action)
        with connect_sync(self.url(), application_name="switchyard testing") as connection:
            # Conductor skips actions whose lock is held by another session.
            connection.execute(
                query("testing", "lock_others"), {"name": before.action_name, "uuid": before.action_uuid}
            )
            self._dispatch([before.action_name])
        return self.status(action)

    def drain(self, *names: str) -> dict[str, int]:
        """Dispatch all due actions, and those that become due by that; returns their number by status.

        `names`: only actions with these names.
        """
        total: Counter[str] = Counter()
        for _ in range(ROUNDS):
            done, settled = self._dispatch(names), self._settle()
            if not done and not settled:
                return dict(total)
            total.update(done)
        raise AssertionError(f"there was still something due after {ROUNDS} rounds")

    def _settle(self) -> bool:
        """Release or cancel actions that wait for ended actions; returns whether there were any."""
        with connect_sync(self.url(), application_name="switchyard testing") as connection:
            row = connection.execute(query("testing", "settle")).fetchone()
        return row is not None and row[0] > 0

    def _dispatch(self, names: Collection[str]) -> dict[str, int]:
        """One pass of conductor, in a thread, because the test may have its own event loop."""
        assert self.config is not None
        with ThreadPoolExecutor(1, "conductor") as executor:
            return executor.submit(asyncio.run, _once(self.config, names)).result()


async def _once(config: "Config", names: Collection[str]) -> dict[str, int]:
    from conductor.process import ConductorProcess  # noqa: PLC0415 - needs the extra `server`

    process = ConductorProcess(config, names)
    await process.once()
    return process.dispatched()
