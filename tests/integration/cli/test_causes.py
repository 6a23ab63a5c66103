"""The inbox by cause, and decisions about one cause."""

import threading
import time

import pytest

from tests.integration.cli.conftest import Command
from tests.waiting import until


def failed(switchyard: Command, error: str, count: int = 1, name: str = "noop") -> list[str]:
    uuids = [switchyard.submitted(name) for _ in range(count)]
    for uuid in uuids:
        switchyard.event(uuid, "FAILED", error=error.replace("N", uuid))
    return uuids


def states(switchyard: Command) -> dict[str, str]:
    return {row["action_uuid"]: row["status"] for row in switchyard.json("list")}


def test_the_inbox_by_cause(switchyard: Command) -> None:
    assert "No failed action is in the inbox." in switchyard("inbox", "--by-cause").out
    failed(switchyard, "answered 503: order N", 3)
    [other] = failed(switchyard, "no disk left on N", name="other")
    shown = switchyard("inbox", "--by-cause").out
    assert "answered 503: order *" in shown
    assert "no disk left on *" in shown
    first, second = switchyard.json("inbox", "--by-cause")
    assert (first["count"], first["action_names"], first["trend"]) == (3, ["noop"], "new")
    assert (second["count"], second["example"]) == (1, other)
    assert "The 1 most frequent" in switchyard("inbox", "--by-cause", "--limit", "1").out
    assert {row["action_uuid"] for row in switchyard.json("list", "--cause", "no disk")} == {other}


def test_retrigger_by_cause_affects_only_that_cause(switchyard: Command) -> None:
    chosen = failed(switchyard, "answered 503: order N", 5)
    others = failed(switchyard, "answered 500: order N", 4) + failed(switchyard, "answered 503 too late", 2)
    [([[before]])] = [switchyard.database.execute("select count(*) from switchyard.event")]
    by_cause = ("retrigger", "--cause", "answered 503: order", "-m", "partner is back", "--yes")
    assert "5 retriggered" in switchyard(*by_cause).out
    assert {uuid for uuid, status in states(switchyard).items() if status == "PENDING"} == set(chosen)
    assert {states(switchyard)[uuid] for uuid in others} == {"FAILED"}
    assert switchyard.database.execute("select count(*) from switchyard.event") == [(before + 5,)]
    assert "Nothing to retrigger." in switchyard("retrigger", "--cause", "never seen", "-m", "x").out


def test_a_beginning_must_name_one_cause(switchyard: Command) -> None:
    failed(switchyard, "answered 503: a N")
    failed(switchyard, "answered 503")
    failed(switchyard, "answered 500")
    said = switchyard("retrigger", "--cause", "answered 5", "-m", "x", code=65).err
    assert "several causes in the inbox begin with 'answered 5': answered 500; answered 503" in said
    assert "1 retriggered" in switchyard("retrigger", "--cause", "answered 503", "-m", "x", "--yes").out


def test_dismiss_by_cause_records_the_actor_and_the_reason(switchyard: Command) -> None:
    [gone] = failed(switchyard, "answered 404: N")
    [stays] = failed(switchyard, "answered 500: N")
    words = ("dismiss", "--cause", "answered 404", "--actor", "ann", "-m", "they were deleted", "--yes")
    assert "1 dismissed" in switchyard(*words).out
    assert [row["action_uuid"] for row in switchyard.json("inbox")] == [stays]
    [(detail,)] = switchyard.database.execute(
        "select detail from switchyard.event where action_uuid = %s and status = 'INFO'", gone
    )
    assert (detail["actor"], detail["reason"]) == ("ann", "they were deleted")


def test_a_pace_gives_out_no_more_than_the_rate_allows(
    switchyard: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    failed(switchyard, "answered 503: N", 6)
    slept: list[float] = []
    clock = [100.0]

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock[0] += seconds

    monkeypatch.setattr(time, "sleep", sleep)
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    words = ("retrigger", "--cause", "answered 503", "--rate", "2/s", "-m", "x", "--yes")
    assert "6 retriggered" in switchyard(*words).out
    assert sum(slept) == pytest.approx(2.0)


@pytest.mark.parametrize("status", ["FAILED", "BACKOFF"])
def test_it_stops_by_itself_when_the_cause_returns(switchyard: Command, status: str) -> None:
    uuids = failed(switchyard, "answered 503: N", 30)
    failed(switchyard, "answered 500: N", 1)

    def fails_again() -> None:
        """Ends the first that is retriggered, with another cause; then the second, with the cause."""
        pending = "select action_uuid from switchyard.yard where status = 'PENDING' order by 1"
        write = (
            "insert into switchyard.event (action_uuid, status, run, attempt, error, retry_seconds)"
            " values (%s, %s, 2, 1, %s, 3600)"
        )
        until(lambda: len(switchyard.database.execute(pending)) >= 2)
        first, second, *_ = (uuid for (uuid,) in switchyard.database.execute(pending))
        switchyard.database.execute(write, first, "FAILED", "answered 500: again")
        switchyard.database.execute(write, second, status, "answered 503: 17")

    backend = threading.Thread(target=fails_again)
    backend.start()
    words = ("retrigger", "--cause", "answered 503", "--rate", "5/s", "-m", "x", "--yes")
    said = switchyard(*words, code=1)
    backend.join()
    assert "Stopped: the cause returned with action" in said.err
    assert "answered 503: *" in said.err
    left = [uuid for uuid in uuids if states(switchyard)[uuid] == "FAILED"]
    assert 10 <= len(left) < 30
    assert f"{len(left) - (status == 'FAILED') - 1} actions are unchanged." in said.err


@pytest.mark.parametrize("rate", ["fast", "0/s", "-1/s", "10"])
def test_a_rate_that_is_none_is_refused_before_anything_happens(switchyard: Command, rate: str) -> None:
    [uuid] = failed(switchyard, "broke")
    assert "--rate: " in switchyard("retrigger", uuid, f"--rate={rate}", "-m", "x", code=65).err
    assert states(switchyard)[uuid] == "FAILED"
