"""Three conductors under fire: SIGKILL, ended backends and a server restart, while thousands of actions run.

Sized for a test run; SWITCHYARD_CHAOS_SECONDS and SWITCHYARD_CHAOS_ACTIONS make it as long as one likes
(60 and 20000 are what the conductor promises).
"""

import os
import random
import signal
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from switchyard.ledger import migrate
from tests.acceptance.conductor.counting import Counting
from tests.deployment.deployment import Deployment
from tests.parts.database import Database
from tests.parts.postgres import Server
from tests.waiting import until

SECONDS = float(os.environ.get("SWITCHYARD_CHAOS_SECONDS", "8"))
ACTIONS = int(os.environ.get("SWITCHYARD_CHAOS_ACTIONS", "1500"))
PROCESSES = 3


def config(counts: Counting) -> dict[str, Any]:
    """Webhooks of both delivery modes, and noop in batches."""
    webhook = {
        "type": "http",
        "allow_networks": ["127.0.0.0/8"],
        "concurrency": 20,
        "request": {"url": counts.url + "/{{ action.name }}/{{ action.uuid }}"},
        "retry": {"attempts": 50, "base": "100ms", "max": "500ms"},
    }
    return {
        "actions": {
            "often": webhook,
            "once": webhook | {"delivery": "at_most_once"},
            "drill": {"type": "noop"},
        },
        # Killing is what this test does: it must not pause the names.
        "workers": {"beat": "500ms", "lost_after": "2s", "min_lost": 1_000_000},
        "conductor": {"poll": "2s"},
    }


def rows(database: Database, statement: Any) -> list[tuple[Any, ...]]:
    """Its rows, however often the server is away."""

    def tried() -> list[list[tuple[Any, ...]]]:
        try:
            return [database.execute(statement)]
        except psycopg.OperationalError:
            return []

    return until(tried)[0]


def replace_ended(deployment: Deployment, settings: dict[str, Any]) -> None:
    """As a platform does, also for one that ended because it was started while the server was away."""
    for _ in range(PROCESSES - sum(member.running() for member in deployment.programs)):
        deployment.add_conductor(settings)


def strike(
    deployment: Deployment, server: Server, chance: random.Random, settings: dict[str, Any], blow: int
) -> None:
    """A process dies and is replaced; now and then backends end, and once the server restarts."""
    replace_ended(deployment, settings)
    chance.choice([member for member in deployment.programs if member.running()]).kill()
    replace_ended(deployment, settings)
    if blow % 3 == 1:
        rows(
            deployment.database,
            "select count(pg_terminate_backend(pid)) from pg_stat_activity"
            " where application_name like 'conductor %%'",
        )
    if blow == 3:
        server.restart()


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_action_ends_once_whatever_dies(own_postgres: Server, tmp_path: Path, counts: Counting) -> None:
    migrate.upgrade(own_postgres.url())
    database = Database("postgres", own_postgres.url())
    settings, chance = config(counts), random.Random(20261116)
    with closing(Deployment(database, tmp_path)) as deployment:
        for _ in range(PROCESSES):
            deployment.add_conductor(settings)
        deployment.registered(PROCESSES * 3)
        names = "array['often', 'once', 'drill']"
        deadline, blow = time.monotonic() + SECONDS, 0
        while time.monotonic() < deadline:
            share = max(1, int(ACTIONS / SECONDS / 3))
            submit = "insert into switchyard.action (action_name) select n from unnest(%s) as n, generate_series(1, %s)"
            rows(database, (submit % (names, share)).encode())  # our own words, no input
            strike(deployment, own_postgres, chance, settings, blow)
            blow += 1
            time.sleep(1)  # not a wait for anything: the pace of the blows
        replace_ended(deployment, settings)
        until(lambda: rows(database, "select count(*) from switchyard.yard") == [(0,)], 300)
        for member in deployment.programs:
            if member.running():
                member.send(signal.SIGTERM)
                # One that was still starting had no handler for the signal yet.
                assert member.wait(60) == 0 or not member.said("serving")
    check(database, counts)


def check(database: Database, counts: Counting) -> None:
    """Ended once, at-most-once called once, the ledger consistent, no lock left, every event explained."""
    ends = rows(
        database,
        "select count(*) filter (where n <> 1), count(*) from (select count(e.*) filter"
        " (where e.status >= 'SUCCESSFUL' and not e.ignored) as n from switchyard.action a"
        " left join switchyard.event e using (action_uuid) group by a.action_uuid) as each",
    )
    assert ends[0][0] == 0
    assert ends[0][1] > 0
    twice = {path: n for path, n in counts.seen.items() if path.startswith("/once/") and n > 1}
    assert twice == {}
    assert rows(database, "select * from switchyard.verify()") == []
    locks = "select count(*) from pg_locks where locktype = 'advisory'"
    assert rows(database, locks) == [(0,)]
    kinds = rows(
        database,
        "select distinct a.action_name, e.status::text, e.source, e.ignored from switchyard.event e"
        " join switchyard.action a using (action_uuid)",
    )
    explained = {
        ("often", "SUCCESSFUL", "conductor", False),
        ("often", "BACKOFF", "conductor", False),
        ("drill", "SUCCESSFUL", "conductor", False),
        ("once", "RUNNING", "conductor", False),
        ("once", "SUCCESSFUL", "conductor", False),
        ("once", "BACKOFF", "conductor", False),
        ("once", "FAILED", "conductor", False),  # its conductor died while it was being sent
    }
    assert set(kinds) <= explained
