"""What becomes of outcomes whose session ends while they are written."""

from typing import Any, cast
from uuid import uuid4

import psycopg
import pytest

from conductor.action import ClaimedAction, Decision
from conductor.outcomes.write import is_homeless, is_locked, is_poison, is_slow, write
from conductor.session.session import Session
from switchyard.handlers import Work


class Failing:
    """A session whose statements fail."""

    def __init__(self, *, lost: bool) -> None:
        self.lost = lost
        self.statements = 0

    async def rows(self, *_: Any) -> list[Any]:
        self.statements += 1
        raise psycopg.errors.ReadOnlySqlTransaction("no writes")


def decided() -> ClaimedAction:
    action = ClaimedAction(uuid4(), 1, 1, 0, cast("Work", None))
    action.decision = Decision("SUCCESSFUL")
    return action


async def test_outcomes_of_a_lost_session_are_dropped_and_not_tried_again() -> None:
    """Its locks are gone: whoever claims next decides."""
    session = Failing(lost=True)
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        await write(cast("Session", session), [decided(), decided()])
    assert session.statements == 1


async def test_while_the_server_takes_no_writes_all_outcomes_stay() -> None:
    session = Failing(lost=False)
    actions = [decided(), decided()]
    done = await write(cast("Session", session), actions)
    assert done.left == actions
    assert (done.written, done.gone, done.refused) == ([], [], "no writes")


@pytest.mark.parametrize(
    ("error", "locked", "slow", "poison"),
    [
        (psycopg.errors.LockNotAvailable(), True, False, False),
        (psycopg.errors.DeadlockDetected(), True, False, False),
        (psycopg.errors.QueryCanceled(), False, True, False),
        (psycopg.errors.NumericValueOutOfRange(), False, False, True),
        (psycopg.errors.ReadOnlySqlTransaction(), False, False, False),
        (OverflowError(), False, False, True),
    ],
)
def test_which_rows_of_a_group_an_error_blames(
    error: Exception, locked: bool, slow: bool, poison: bool
) -> None:
    assert (is_locked(error), is_slow(error), is_poison(error)) == (locked, slow, poison)
    assert not is_homeless(error)
