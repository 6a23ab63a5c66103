"""`conductor run` and `once` as people start and stop them: signals, exit codes, health, reload."""

import signal
import time
from typing import Any

import pytest

from tests.acceptance.conductor.counting import Counting
from tests.deployment.deployment import Deployment
from tests.deployment.program import Program
from tests.waiting import until

NOOP: dict[str, Any] = {"actions": {"drill": {"type": "noop"}}}


def webhook(counts: Counting, **settings: Any) -> dict[str, Any]:
    """A configuration with one webhook to the counting server."""
    request = {"url": counts.url + "/{{ action.uuid }}"}
    action = {"type": "http", "request": request, "allow_networks": ["127.0.0.0/8"], "timeout": "20s"}
    workers = {"beat": "500ms", "lost_after": "2s"}
    return {"actions": {"webhook": action | settings}, "workers": workers}


def rests(deployment: Deployment, member: Program) -> None:
    """Wait until it has looked again for something to claim, or tried the bell after a look, and rests."""
    [[now]] = deployment.database.execute("select clock_timestamp()")
    looked = (
        "select true from pg_stat_activity a join switchyard.worker w on w.backend_pid = a.pid"
        " where w.pid = %s and a.state = 'idle' and a.query_start > %s"
        " and (a.query like '%%switchyard.claim(%%' or a.query like '%%pg_try_advisory_lock%%')"
    )
    until(lambda: deployment.database.execute(looked, member.pid, now))


def test_once_does_what_is_due_and_exits(deployment: Deployment) -> None:
    deployment.ledger.insert("drill", 700)
    deployment.configure(NOOP)
    done = deployment.run("conductor", "once", "-c", deployment.file)
    assert done.returncode == 0, done.stderr
    assert deployment.ledger.counts() == {"SUCCESSFUL": 700}


def test_an_action_name_that_is_not_configured_is_a_configuration_error(deployment: Deployment) -> None:
    member = deployment.add_conductor(NOOP, "--actions", "drill,dirll")
    assert member.wait() == 78
    assert "dirll" in member.log.read_text()


def test_health_metrics_reload_and_a_clean_stop(deployment: Deployment) -> None:
    member = deployment.add_conductor(NOOP)
    deployment.registered(1)
    member.health()
    assert member.get("/livez")[0] == 200
    until(lambda: member.get("/readyz")[0] == 200)
    deployment.ledger.insert("drill", 10)
    until(lambda: deployment.ledger.counts() == {"SUCCESSFUL": 10})
    metrics = member.get("/metrics")[1]
    assert 'switchyard_conductor_dispatches_total{action_name="drill",status="SUCCESSFUL"} 10.0' in metrics
    assert "switchyard_conductor_partitions_days_ahead" in metrics

    deployment.configure({"actions": {"drill": {"type": "nonsense"}}})
    until(lambda: member.said("the configuration stays as it was"))
    assert member.get("/readyz")[0] == 503
    deployment.ledger.insert("drill", 1)
    until(lambda: deployment.ledger.counts() == {"SUCCESSFUL": 11})  # the old one is in force

    deployment.configure({"actions": {"drill": {"type": "noop"}, "more": {"type": "noop"}}})
    member.send(signal.SIGHUP)
    deployment.ledger.insert("more", 1)
    until(lambda: deployment.ledger.counts() == {"SUCCESSFUL": 12})
    assert member.get("/readyz")[0] == 200

    member.send(signal.SIGTERM)
    assert member.wait() == 0
    rows = deployment.database.execute("select ended_at is not null, lost_at is null from switchyard.worker")
    assert set(rows) == {(True, True)}


def test_hole_39_an_unknown_name_from_sql_waits(deployment: Deployment) -> None:
    deployment.database.execute("insert into switchyard.action (action_name) values ('teleport')")
    deployment.add_conductor(NOOP)
    deployment.database.execute("insert into switchyard.action (action_name) values ('drill')")
    until(lambda: deployment.ledger.counts() == {"SUCCESSFUL": 1, "PENDING": 1}, 60)


def test_sigterm_finishes_what_is_in_flight(deployment: Deployment, counts: Counting) -> None:
    counts.gate.clear()
    deployment.ledger.insert("webhook", 3)
    member = deployment.add_conductor(webhook(counts))
    until(lambda: counts.seen.total() == 3, 60)
    member.send(signal.SIGTERM)
    until(lambda: member.said("stopping"))
    deployment.ledger.insert("webhook", 1)
    counts.gate.set()
    assert member.wait() == 0
    assert deployment.ledger.counts() == {"SUCCESSFUL": 3, "PENDING": 1}
    assert counts.seen.total() == 3


def test_a_second_signal_ends_at_once(deployment: Deployment, counts: Counting) -> None:
    counts.gate.clear()
    deployment.ledger.insert("webhook", 1)
    member = deployment.add_conductor(webhook(counts))
    until(lambda: counts.seen.total() == 1, 60)
    member.send(signal.SIGTERM)
    until(lambda: member.said("stopping"))
    member.send(signal.SIGTERM)
    assert member.wait(60) == -signal.SIGTERM


def test_r3_a_killed_conductor_is_followed_within_a_second(deployment: Deployment, counts: Counting) -> None:
    counts.gate.clear()
    first = deployment.add_conductor(webhook(counts))
    deployment.registered(1)
    deployment.ledger.insert("webhook", 5)
    until(lambda: counts.seen.total() == 5)
    peer = deployment.add_conductor(webhook(counts))
    deployment.registered(2)
    rests(deployment, peer)
    began = time.monotonic()
    first.kill()
    until(lambda: counts.seen.total() == 10)
    assert time.monotonic() - began < 15  # the promise is 1 s; by polling it would take up to 30 s
    counts.gate.set()
    until(lambda: deployment.ledger.counts() == {"SUCCESSFUL": 5})


def test_r3_a_killed_conductor_is_followed_by_a_peer_that_sleeps_armed(
    deployment: Deployment, counts: Counting
) -> None:
    armed = (
        "select w.pid from pg_locks l join switchyard.worker w on w.backend_pid = l.pid"
        " join pg_database d on d.oid = l.database and d.datname = current_database()"
        " where l.locktype = 'advisory' and l.classid = 1937204078 and l.mode = 'ExclusiveLock' and l.granted"
    )
    config = webhook(counts) | {"workers": {"beat": "5s", "lost_after": "30s"}}  # stopped is not yet lost
    counts.gate.clear()
    peer = deployment.add_conductor(config)
    until(lambda: deployment.database.execute(armed) == [(peer.pid,)], 60)
    first = deployment.add_conductor(config)
    deployment.registered(2)
    peer.send(signal.SIGSTOP)  # armed, and too late for what comes now
    deployment.ledger.insert("webhook", 5)
    until(lambda: counts.seen.total() == 5)
    peer.send(signal.SIGCONT)
    rests(deployment, peer)
    assert deployment.database.execute(armed) == [(peer.pid,)]
    began = time.monotonic()
    first.kill()
    until(lambda: counts.seen.total() == 10)  # a death rings no bell
    assert time.monotonic() - began < 15  # the promise is 1 s; by polling it would take up to 30 s
    counts.gate.set()
    until(lambda: deployment.ledger.counts() == {"SUCCESSFUL": 5})


def test_a_stopped_process_loses_its_claims_and_writes_nothing_when_it_wakes(
    deployment: Deployment, counts: Counting
) -> None:
    counts.gate.clear()
    first = deployment.add_conductor(webhook(counts))
    deployment.ledger.insert("webhook", 3)
    until(lambda: counts.seen.total() == 3, 60)
    deployment.add_conductor(webhook(counts))
    deployment.registered(2)
    first.send(signal.SIGSTOP)
    until(lambda: counts.seen.total() == 6, 30)
    counts.gate.set()
    until(lambda: deployment.ledger.counts() == {"SUCCESSFUL": 3})
    first.send(signal.SIGCONT)
    until(lambda: first.said("database session lost"))
    deployment.registered(2)
    events = "select count(*) from switchyard.event"
    assert deployment.database.execute(events) == [(3,)]
    lost = "select count(*) from switchyard.journal where kind = 'lost_worker' and reason like '%%webhook%%'"
    assert deployment.database.execute(lost) == [(1,)]


def test_a_fleet_limit_holds_over_three_processes(deployment: Deployment, counts: Counting) -> None:
    rate, burst = 40, 5
    limit = {"limit": f"{rate}/s", "burst": burst, "scope": "fleet"}
    for _ in range(3):
        deployment.add_conductor(webhook(counts, rate=limit))
    deployment.registered(3)
    deployment.ledger.insert("webhook", 80)
    until(lambda: deployment.ledger.counts() == {"SUCCESSFUL": 80}, 60)
    times = sorted(counts.times)
    late = 0.5  # from the token, in the database, to the request's arrival on a busy machine
    for first, start in enumerate(times):
        for count, end in enumerate(times[first:], 1):
            assert count <= rate * (end - start + late) + burst
    assert times[-1] - times[0] >= (80 - burst) / rate - late


@pytest.mark.parametrize("delivery", ["at_least_once", "at_most_once"])
def test_a_conductor_killed_between_sending_and_hearing(
    deployment: Deployment, counts: Counting, delivery: str
) -> None:
    counts.gate.clear()
    first = deployment.add_conductor(webhook(counts, delivery=delivery))
    deployment.ledger.insert("webhook", 4)
    until(lambda: counts.seen.total() == 4, 60)
    first.kill()
    counts.gate.set()
    deployment.add_conductor(webhook(counts, delivery=delivery))
    once = delivery == "at_most_once"
    until(lambda: deployment.ledger.counts() == ({"FAILED": 4} if once else {"SUCCESSFUL": 4}), 60)
    assert set(counts.seen.values()) == {1 if once else 2}
    review = "select count(*) from switchyard.inbox where kind = 'thread'"
    assert deployment.database.execute(review) == [(4 if once else 0,)]
