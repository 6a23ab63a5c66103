"""Which run an execution is of, and which one a run continues."""

from typing import Any
from uuid import UUID

import pytest

from switchyard.backends.stepfunctions.observe import observe
from switchyard.backends.stepfunctions.redrive import (
    MOST_REDRIVES,
    NotRedriven,
    names_of,
    redrives,
    to_redrive,
)

U = UUID("0190163d-8694-739b-aea5-966c26f8ad91")
MACHINE = "arn:aws:states:eu-west-2:123456789012:stateMachine:m"
ARN = f"arn:aws:states:eu-west-2:123456789012:execution:m:{U}"


def failed(redriven: int = 0, status: str = "REDRIVABLE") -> dict[str, Any]:
    return {"status": "FAILED", "redriveCount": redriven, "redriveStatus": status}


@pytest.mark.parametrize(
    ("there", "run", "found"),
    [
        ({"": failed()}, 2, (ARN, False)),
        ({"": failed(1)}, 2, (ARN, True)),  # the answer of the redrive was lost
        ({"": failed(1)}, 3, (ARN, False)),  # once more
        ({"": failed(), "-r2": failed()}, 3, (f"{ARN}-r2", False)),  # run 2 was from the start
        ({"": failed(), "-r2": failed(1)}, 4, (f"{ARN}-r2", False)),
        (
            {"": failed(), "-r2": {"status": "RUNNING"}},
            2,
            (f"{ARN}-r2", True),
        ),  # started in an earlier attempt
    ],
)
def test_a_run_continues_the_execution_of_the_run_before(
    there: dict[str, Any], run: int, found: tuple[str, bool]
) -> None:
    assert to_redrive(lambda arn: there.get(arn.removeprefix(ARN)), MACHINE, U, run) == found


@pytest.mark.parametrize(
    ("there", "run", "reason"),
    [
        ({}, 2, "no earlier execution"),
        ({"": failed()}, 3, "the last execution that is there is of run 1"),
        ({"": failed(2)}, 2, "is of run 3"),
        ({"": failed(status="NOT_REDRIVABLE")}, 2, "cannot be redriven"),
        (
            {
                "": failed(status="NOT_REDRIVABLE")
                | {"redriveStatusReason": "Execution redrivable period exceeded"}
            },
            2,
            "period exceeded",
        ),
    ],
)
def test_what_cannot_be_continued_gives_its_reason(there: dict[str, Any], run: int, reason: str) -> None:
    with pytest.raises(NotRedriven, match=reason):
        to_redrive(lambda arn: there.get(arn.removeprefix(ARN)), MACHINE, U, run)


def test_the_end_of_a_redriven_execution_is_that_of_the_later_run() -> None:
    """A message about its first end that comes late describes the same execution as it is now."""
    seen = observe(U, 1, {"status": "SUCCEEDED", "redriveCount": 2, "output": '{"n": 1}'})
    assert (seen.run, seen.written_in, seen.output) == (3, 1, {"n": 1})
    assert (observe(U, 3, {"status": "SUCCEEDED"}).run, observe(U, 3, {}).written_in) == (3, None)


@pytest.mark.parametrize("count", [None, "2", -1, 2.5, {}])
def test_a_count_that_is_not_a_number_counts_as_zero(count: object) -> None:
    assert redrives({"redriveCount": count}) == 0


def test_the_names_of_a_run_are_bounded() -> None:
    assert [named for named, _ in names_of(U, 3)] == [3, 2, 1]
    assert len(list(names_of(U, 10_000))) == MOST_REDRIVES + 1
