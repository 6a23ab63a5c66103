"""A client that also runs actions, in the process that it is used in."""

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

ROUNDS = 100  # of `drain`: actions that submit actions without end


class InProcessYard(Switchyard):
    """`yard` of the plugin: every verb of Switchyard, and `run` and `drain`.

    Both run conductor in a thread of this process, with your configuration: what a test replaces
    (monkeypatch) is replaced for handlers too. Neither waits: an action that is not due yet is left alone.
    An action that is handed over (argo, sqs, local, …) is QUEUED then, for there is no caboose.
    """

    def run(self, action: ActionId) -> Thread:
        """Dispatch this action now, and nothing else that is due; its state afterwards."""
        before = self.status(action)
        with connect_sync(self.url(), application_name="switchyard testing") as connection:
            # Conductor leaves an action alone whose lock is held by another session.
            connection.execute(
                query("testing", "lock_others"), {"name": before.action_name, "uuid": before.action_uuid}
            )
            self._dispatch([before.action_name])
        return self.status(action)

    def drain(self, *names: str) -> dict[str, int]:
        """Dispatch everything that is due, and what becomes due by that; how many, by their status then.

        `names`: only these action names.
        """
        total: Counter[str] = Counter()
        for _ in range(ROUNDS):
            done, settled = self._dispatch(names), self._settle()
            if not done and not settled:
                return dict(total)
            total.update(done)
        raise AssertionError(f"there was still something due after {ROUNDS} rounds")

    def _settle(self) -> bool:
        """Release or cancel what waits for actions that have ended; whether there was any."""
        with connect_sync(self.url(), application_name="switchyard testing") as connection:
            row = connection.execute(query("testing", "settle")).fetchone()
        return row is not None and row[0] > 0

    def _dispatch(self, names: Collection[str]) -> dict[str, int]:
        """One pass of conductor. In a thread: the test may have an event loop of its own."""
        assert self.config is not None
        with ThreadPoolExecutor(1, "conductor") as executor:
            return executor.submit(asyncio.run, _once(self.config, names)).result()


async def _once(config: "Config", names: Collection[str]) -> dict[str, int]:
    from conductor.process import ConductorProcess  # noqa: PLC0415 - needs the extra `server`

    process = ConductorProcess(config, names)
    await process.once()
    return process.dispatched()
