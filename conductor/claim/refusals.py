"""Dispatches that the other side refused for lack of room, a quota for example, spend none of the attempts.

They are dispatches all the same, and their events have numbers of their own. They are counted only where the
number would make this dispatch the last one.
"""

from collections.abc import Sequence
from dataclasses import replace

from conductor.action import ClaimedAction
from conductor.claim.claim import or_sever
from conductor.session.arrays import Ints, Uuids
from conductor.session.session import Session
from switchyard.ledger.queries import query

REFUSALS = query("conductor", "refusals")


async def discount(session: Session, actions: Sequence[ClaimedAction], attempts: int) -> None:
    """Tell those that seem to be at their last attempt how many of the earlier ones do not count."""
    late = {action.uuid: action for action in actions if 1 < action.attempt >= attempts}
    if not late:
        return
    runs = [action.run for action in late.values()]
    with or_sever(session, "claim"):
        found = await session.rows(REFUSALS, {"uuids": Uuids.of(list(late)), "runs": Ints.of(runs)})
    for uuid, refused in found:
        action = late[uuid]
        action.refused = refused
        if action.work is not None:
            action.work = replace(action.work, last_attempt=action.attempt - refused >= attempts)
