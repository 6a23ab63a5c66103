"""A pipeline without a database: actions are put into its table, run, and their decisions looked at."""

import asyncio
from typing import cast

from conductor.action import ClaimedAction
from conductor.dispatch.pipeline import Pipeline
from conductor.limits.served_name import ServedName
from conductor.metrics import ConductorMetrics
from conductor.registry import Registration
from conductor.session.session import Session
from switchyard.backends.noop.model import NoopAction
from switchyard.handlers import Handler, Outcome, Work


class Dispatching:
    """Runs actions up to the point where their outcomes would be written."""

    def __init__(self, handler: Handler) -> None:
        self.ended = asyncio.Event()
        served = ServedName("drill", NoopAction(timeout=30.0), handler, ConductorMetrics())
        nobody = cast("Session", None)
        self.pipeline = Pipeline(nobody, served, cast("Registration", None), 1, self.ended.set)
        self.table = self.pipeline.table

    def start(self, work: Work) -> ClaimedAction:
        """As if it had been claimed."""
        action = ClaimedAction(work.uuid, work.run, work.attempt, 0, work)
        self.table.add([action])
        self.pipeline.run([action])
        return action

    async def outcomes(self) -> list[Outcome]:
        """Of all, once they have been stored; handlers that draft only."""
        while self.table.undecided:
            await self.ended.wait()
            self.ended.clear()
        taken = self.table.take(decided=True, blocked=False)
        return [action.draft.outcome for action in taken if action.draft is not None]
