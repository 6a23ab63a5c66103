"""What idle programs send: a database that bills by use, or sleeps, is not woken by polling."""

import time
from typing import Any

from tests.deployment.deployment import Deployment
from tests.waiting import until

SECONDS = 20
# Routes, which are compared every ten seconds for the first minute, are not counted. All else is one pulse per minute, and a
# look or two at heartbeats until it is seen that all rest; it was 20 heartbeats and looks.
MOST = 8
STARTED = (
    "select query_start, application_name, left(query, 60) from pg_stat_activity"
    " where application_name ~ '^(conductor|caboose)' and query !~ 'route|flows'"
    " and datname = current_database()"
)


def statements(deployment: Deployment) -> set[Any]:
    """What the programs send meanwhile."""
    with deployment.database.connect() as connection:
        seen = before = set(connection.execute(STARTED).fetchall())
        ends = time.monotonic() + SECONDS
        while time.monotonic() < ends:
            time.sleep(0.1)  # the pace of samples
            seen = seen.union(connection.execute(STARTED).fetchall())
    return seen - before


def resting(deployment: Deployment) -> bool:
    """All three workers leave their heartbeats to the pulse."""
    [[count]] = deployment.database.execute(
        "select count(*) from switchyard.worker where rests > '0' and ended_at is null"
    )
    return bool(count == 3)


def test_idle_programs_send_almost_nothing(deployment: Deployment) -> None:
    run = {"type": "local", "command": "true", "spool": str(deployment.folder / "spool")}
    actions = {"hook": {"type": "noop"}, "run": run}
    deployment.configure(
        {"workflows": {"flow": {"action": "run"}}, "actions": actions, "caboose": {"poll": "5s"}}
    )
    programs = [deployment.program("conductor"), deployment.program("caboose")]
    for program in programs:
        program.start()
    deployment.registered(3)
    until(lambda: resting(deployment), 120)
    sent = statements(deployment)
    assert len(sent) <= MOST, sorted(sent)
    # And still a notification is enough.
    [uuid] = deployment.ledger.insert("hook")
    began = time.monotonic()
    while deployment.ledger.status(uuid) != "SUCCESSFUL":
        assert time.monotonic() - began < 10
