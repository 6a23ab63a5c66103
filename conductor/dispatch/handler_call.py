"""Calls a handler with a time limit and tracing; turns every exception into an outcome."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractContextManager

from conductor.action import ClaimedAction
from switchyard.handlers import Draft, DraftingHandler, Handler, Outcome, Retry, Work
from switchyard.process import tracing
from switchyard.process.deadline import Deadlines
from switchyard.process.log import get_logger

log = get_logger(__name__)


class HandlerCall:
    """The handler of one action name, wrapped for a worker."""

    def __init__(self, handler: Handler, timeout: float) -> None:
        drafting = handler if isinstance(handler, DraftingHandler) else None
        self.drafts = drafting is not None
        self._dispatch: Callable[[Work], Awaitable[Outcome | Draft]] = (
            drafting.draft if drafting else handler.dispatch
        )
        self.store: Callable[[Sequence[Draft]], Awaitable[None]] = drafting.conclude if drafting else _nothing
        self._seconds = timeout + getattr(handler, "overtime", 0.0)
        self._deadlines = Deadlines(self._seconds)

    async def run(self, work: Work) -> Outcome | Draft:
        """Dispatch one action."""
        with _traced(work) as step:
            try:
                with self._deadlines.limit():
                    outcome = await self._dispatch(work)
            except TimeoutError:
                outcome = Retry(f"no outcome within {self._seconds:g} s")
            except Exception as error:
                log.exception("a dispatch raised", action=work.action_name)
                outcome = Retry(f"{type(error).__name__}: {error}")
            decided = outcome.outcome if isinstance(outcome, Draft) else outcome
            step.set("outcome", type(decided).__name__)
            return outcome


def traced_claim(actions: Sequence[ClaimedAction], seconds: float) -> None:
    """Record a claim span for each action, if tracing is on."""
    if not tracing.enabled():
        return
    for work in [action.work for action in actions if action.work is not None]:
        tracing.mark(
            "claim",
            seconds=seconds,
            action_uuid=work.uuid,
            correlation_id=work.correlation_id,
            parent_uuid=work.parent_uuid,
        )


async def _nothing(_drafts: Sequence[Draft]) -> None:
    """The default for handlers without drafts: nothing to store."""


def _traced(work: Work) -> AbstractContextManager[tracing.Step]:
    return tracing.span(
        "dispatch",
        action_uuid=work.uuid,
        correlation_id=work.correlation_id,
        parent_uuid=work.parent_uuid,
        action=work.action_name,
        attempt=work.attempt,
    )
