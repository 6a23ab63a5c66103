"""`conductor run` and `once` as people start and stop them: signals, exit codes, health, reload."""

import signal
import subprocess
import time
import urllib.error
import urllib.request
from typing import Any

import pytest

from tests.acceptance.conductor.counting import Counting
from tests.acceptance.conductor.program import COMMAND, Conductor, Fleet, write
from tests.waiting import until

NOOP: dict[str, Any] = {"actions": {"drill": {"type": "noop"}}}


def webhook(counts: Counting, **settings: Any) -> dict[str, Any]:
    """A configuration with one webhook to the counting server."""
    request = {"url": counts.url + "/{{ action.uuid }}"}
    action = {"type": "http", "request": request, "allow_networks": ["127.0.0.0/8"], "timeout": "20s"}
    workers = {"beat": "500ms", "lost_after": "2s"}
    return {"actions": {"webhook": action | settings}, "workers": workers}


def get(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def submit(fleet: Fleet, count: int, name: str = "webhook") -> None:
    fleet.database.execute(
        "insert into switchyard.action (action_name) select %s from generate_series(1, %s)", name, count
    )


def statuses(fleet: Fleet) -> dict[str, int]:
    return dict(fleet.database.execute("select status::text, count(*) from switchyard.thread group by 1"))


def rests(fleet: Fleet, member: Conductor) -> None:
    """Wait until it has looked once more for something to claim, or tried the bell after a look, and rests."""
    [[now]] = fleet.database.execute("select clock_timestamp()")
    looked = (
        "select true from pg_stat_activity a join switchyard.worker w on w.backend_pid = a.pid"
        " where w.pid = %s and a.state = 'idle' and a.query_start > %s"
        " and (a.query like '%%switchyard.claim(%%' or a.query like '%%pg_try_advisory_lock%%')"
    )
    until(lambda: fleet.database.execute(looked, member.pid, now))


def test_once_does_what_is_due_and_exits(fleet: Fleet) -> None:
    submit(fleet, 700, "drill")
    member = fleet.add(NOOP)
    member.kill()
    done = subprocess.run(
        [COMMAND, "once", "-c", member.file],
        env={**member.environ},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert statuses(fleet) == {"SUCCESSFUL": 700}


def test_an_action_name_that_is_not_configured_is_a_configuration_error(fleet: Fleet) -> None:
    member = fleet.add(NOOP, "--actions", "drill,dirll")
    assert member.wait() == 78
    assert "dirll" in member.log.read_text()


def test_health_metrics_reload_and_a_clean_stop(fleet: Fleet) -> None:
    member = fleet.add(NOOP)
    fleet.registered(1)
    health = member.health()
    assert get(health + "/livez")[0] == 200
    until(lambda: get(health + "/readyz")[0] == 200)
    submit(fleet, 10, "drill")
    until(lambda: statuses(fleet) == {"SUCCESSFUL": 10})
    metrics = get(health + "/metrics")[1]
    assert 'switchyard_conductor_dispatches_total{action_name="drill",status="SUCCESSFUL"} 10.0' in metrics
    assert "switchyard_conductor_partitions_days_ahead" in metrics

    write(member.file, member.file.parent, {"actions": {"drill": {"type": "nonsense"}}})
    until(lambda: member.said("the configuration stays as it was"))
    assert get(health + "/readyz")[0] == 503
    submit(fleet, 1, "drill")
    until(lambda: statuses(fleet) == {"SUCCESSFUL": 11})  # the old one is in force

    write(member.file, member.file.parent, {"actions": {"drill": {"type": "noop"}, "more": {"type": "noop"}}})
    member.signal(signal.SIGHUP)
    submit(fleet, 1, "more")
    until(lambda: statuses(fleet) == {"SUCCESSFUL": 12}, 20)
    assert get(health + "/readyz")[0] == 200

    member.signal(signal.SIGTERM)
    assert member.wait() == 0
    rows = fleet.database.execute("select ended_at is not null, lost_at is null from switchyard.worker")
    assert set(rows) == {(True, True)}


def test_an_unknown_name_from_sql_ends_invalid(fleet: Fleet) -> None:
    fleet.database.execute("insert into switchyard.action (action_name) values ('teleport')")
    fleet.add(NOOP)
    until(lambda: statuses(fleet) == {"INVALID": 1}, 60)


def test_sigterm_finishes_what_is_in_flight(fleet: Fleet, counts: Counting) -> None:
    counts.gate.clear()
    submit(fleet, 3)
    member = fleet.add(webhook(counts))
    until(lambda: counts.seen.total() == 3, 60)
    member.signal(signal.SIGTERM)
    until(lambda: member.said("stopping"))
    submit(fleet, 1)
    counts.gate.set()
    assert member.wait() == 0
    assert statuses(fleet) == {"SUCCESSFUL": 3, "PENDING": 1}
    assert counts.seen.total() == 3


def test_a_second_signal_ends_at_once(fleet: Fleet, counts: Counting) -> None:
    counts.gate.clear()
    submit(fleet, 1)
    member = fleet.add(webhook(counts))
    until(lambda: counts.seen.total() == 1, 60)
    member.signal(signal.SIGTERM)
    until(lambda: member.said("stopping"))
    member.signal(signal.SIGTERM)
    assert member.wait(5) == -signal.SIGTERM


def test_r3_a_killed_conductor_is_followed_within_a_second(fleet: Fleet, counts: Counting) -> None:
    counts.gate.clear()
    first = fleet.add(webhook(counts))
    fleet.registered(1)
    submit(fleet, 5)
    until(lambda: counts.seen.total() == 5)
    peer = fleet.add(webhook(counts))
    fleet.registered(2)
    rests(fleet, peer)
    began = time.monotonic()
    first.kill()
    until(lambda: counts.seen.total() == 10, 5)
    assert time.monotonic() - began < 1.0 * 5  # the promise is 1 s
    counts.gate.set()
    until(lambda: statuses(fleet) == {"SUCCESSFUL": 5})


def test_r3_a_killed_conductor_is_followed_by_a_peer_that_sleeps_armed(
    fleet: Fleet, counts: Counting
) -> None:
    armed = (
        "select w.pid from pg_locks l join switchyard.worker w on w.backend_pid = l.pid"
        " join pg_database d on d.oid = l.database and d.datname = current_database()"
        " where l.locktype = 'advisory' and l.classid = 1937204078 and l.mode = 'ExclusiveLock' and l.granted"
    )
    config = webhook(counts) | {"workers": {"beat": "5s", "lost_after": "30s"}}  # stopped is not yet lost
    counts.gate.clear()
    peer = fleet.add(config)
    until(lambda: fleet.database.execute(armed) == [(peer.pid,)], 60)
    first = fleet.add(config)
    fleet.registered(2)
    peer.signal(signal.SIGSTOP)  # armed, and too late for what comes now
    submit(fleet, 5)
    until(lambda: counts.seen.total() == 5)
    peer.signal(signal.SIGCONT)
    rests(fleet, peer)
    assert fleet.database.execute(armed) == [(peer.pid,)]
    began = time.monotonic()
    first.kill()
    until(lambda: counts.seen.total() == 10, 5)  # a death rings no bell
    assert time.monotonic() - began < 1.0 * 5  # the promise is 1 s
    counts.gate.set()
    until(lambda: statuses(fleet) == {"SUCCESSFUL": 5})


def test_a_stopped_process_loses_its_claims_and_writes_nothing_when_it_wakes(
    fleet: Fleet, counts: Counting
) -> None:
    counts.gate.clear()
    first = fleet.add(webhook(counts))
    submit(fleet, 3)
    until(lambda: counts.seen.total() == 3, 60)
    fleet.add(webhook(counts))
    fleet.registered(2)
    first.signal(signal.SIGSTOP)
    until(lambda: counts.seen.total() == 6, 30)
    counts.gate.set()
    until(lambda: statuses(fleet) == {"SUCCESSFUL": 3})
    first.signal(signal.SIGCONT)
    until(lambda: first.said("database session lost"), 20)
    fleet.registered(2)
    events = "select count(*) from switchyard.event"
    assert fleet.database.execute(events) == [(3,)]
    lost = "select count(*) from switchyard.journal where kind = 'lost_worker' and reason like '%%webhook%%'"
    assert fleet.database.execute(lost) == [(1,)]


def test_a_fleet_limit_holds_over_three_processes(fleet: Fleet, counts: Counting) -> None:
    rate, burst = 40, 5
    limit = {"limit": f"{rate}/s", "burst": burst, "scope": "fleet"}
    for _ in range(3):
        fleet.add(webhook(counts, rate=limit))
    fleet.registered(3)
    submit(fleet, 80)
    until(lambda: statuses(fleet) == {"SUCCESSFUL": 80}, 60)
    times = sorted(counts.times)
    late = 0.5  # from the token, in the database, to the request's arrival on a busy machine
    for first, start in enumerate(times):
        for count, end in enumerate(times[first:], 1):
            assert count <= rate * (end - start + late) + burst
    assert times[-1] - times[0] >= (80 - burst) / rate - late


@pytest.mark.parametrize("delivery", ["at_least_once", "at_most_once"])
def test_a_conductor_killed_between_sending_and_hearing(
    fleet: Fleet, counts: Counting, delivery: str
) -> None:
    counts.gate.clear()
    first = fleet.add(webhook(counts, delivery=delivery))
    submit(fleet, 4)
    until(lambda: counts.seen.total() == 4, 60)
    first.kill()
    counts.gate.set()
    fleet.add(webhook(counts, delivery=delivery))
    once = delivery == "at_most_once"
    until(lambda: statuses(fleet) == ({"FAILED": 4} if once else {"SUCCESSFUL": 4}), 60)
    assert set(counts.seen.values()) == {1 if once else 2}
    review = "select count(*) from switchyard.inbox where kind = 'thread'"
    assert fleet.database.execute(review) == [(4 if once else 0,)]
