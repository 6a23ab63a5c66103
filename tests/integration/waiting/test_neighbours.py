"""What one waiter, set, campaign or key costs the others: rows that somebody holds, triggers that somebody added."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import LiteralString
from uuid import UUID

import pytest
from psycopg.types.json import Jsonb

from conductor.session.open import LOCK_TIMEOUT
from tests.integration.reuse.rules import announce, ask
from tests.integration.sets import campaigns
from tests.integration.sets.graphs import nodes, submit_graph
from tests.integration.waiting.joins import Connection, end, ready, status, submit
from tests.parts.database import Database

pytestmark = pytest.mark.database

BLOCKED = 12
PROMISED = 0.25  # for each lock that something waits for
TIMEOUT = 4  # seconds for a statement; in the product it is longer
LOOKS: tuple[LiteralString, ...] = (
    "select settled, busy from switchyard.settle_waiting()",
    "select settled, busy from switchyard.submit_items()",
    "select settled, busy from switchyard.settle_sets()",
    "select settled, busy from switchyard.settle_reuse()",
)
HEAVY = (
    "create function heavy() returns trigger language plpgsql as $$"
    " begin if new.correlation_id like 'campaign heavy %' then perform pg_sleep(60); end if; return new; end $$"
)


def passes(connection: Connection, count: int = 3) -> float:
    """What a conductor does, so often; how long it took."""
    began = time.monotonic()
    for look in LOOKS * count:
        connection.execute(look)
    return time.monotonic() - began


@contextmanager
def conductor(database: Database) -> Iterator[Connection]:
    with database.connect() as connection:
        connection.execute("select set_config('lock_timeout', %s, false)", [LOCK_TIMEOUT])
        connection.execute("select set_config('statement_timeout', %s, false)", [f"{TIMEOUT}s"])
        yield connection


def with_inputs(connection: Connection, child: UUID, count: int) -> list[UUID]:
    """This many actions that wait for it and take an input from it."""
    waiters = [submit(connection, [child]) for _ in range(count)]
    inputs = Jsonb({"a": {"from": str(child), "path": "$.output"}})
    connection.execute(
        "update switchyard.action set inputs = %s where action_uuid = any (%s)", [inputs, waiters]
    )
    return waiters


def test_waiters_whose_rows_are_held_delay_no_other(database: Database) -> None:
    with database.connect() as connection, database.connect(autocommit=False) as other:
        child = submit(connection)
        *blocked, free = with_inputs(connection, child, BLOCKED + 1)
        end(connection, child)
        other.execute("select from switchyard.action where action_uuid = any (%s) for update", [blocked])
        with conductor(database) as settles:
            assert passes(settles) < BLOCKED * PROMISED, "there is not a wait for each"
            assert ready(database, free)
            other.rollback()
            passes(settles)
    assert database.execute("select count(*) from switchyard.waiting") == [(0,)]
    assert database.execute("select count(*) from switchyard.inbox") == [(0,)]


def test_sets_whose_place_in_the_queue_is_held_delay_no_other(database: Database) -> None:
    with database.connect() as connection, database.connect(autocommit=False) as other:
        graphs = [
            submit_graph(connection, {"nodes": nodes(a=""), "callbacks": []}) for _ in range(BLOCKED + 1)
        ]
        end(connection, *(graph["a"] for graph in graphs))
        *blocked, free = [graph[None] for graph in graphs]
        other.execute("select from switchyard.yard where action_uuid = any (%s) for update", [blocked])
        with conductor(database) as settles:
            assert passes(settles) < BLOCKED * PROMISED, "there is not a wait for each"
            assert status(database, free) == "SUCCESSFUL"
            other.rollback()
            passes(settles)
    assert {status(database, uuid) for uuid in blocked} == {"SUCCESSFUL"}


@pytest.mark.parametrize("table", ["campaign", "campaign_item", "sets", "tally"])
def test_campaigns_whose_rows_are_held_delay_no_other(database: Database, table: str) -> None:
    with database.connect() as connection, database.connect(autocommit=False) as other:
        made = [campaigns.start(connection, f"c{number}", in_flight=2) for number in range(BLOCKED + 1)]
        for uuid in made:
            campaigns.feed(connection, uuid, campaigns.items(range(3)))
        passes(connection, 1)
        end(connection, *(member for uuid in made for member in campaigns.members(database, uuid)))
        column = "set_uuid" if table in ("campaign_item", "tally") else "action_uuid"
        other.execute(f"select from switchyard.{table} where {column} <> '{made[-1]}' for update")
        with conductor(database) as settles:
            assert passes(settles) < BLOCKED * PROMISED, "there is not a wait for each"
            assert len(campaigns.members(database, made[-1])) == 1
            assert database.execute("select count(*) from switchyard.inbox") == [(0,)]
            other.rollback()
            passes(settles)
    assert all(len(campaigns.members(database, uuid)) == 1 for uuid in made)


def test_actions_that_wait_for_a_result_and_are_held_delay_no_other(database: Database) -> None:
    with database.connect() as connection, database.connect(autocommit=False) as other:
        announce(connection)
        asked = {item: [ask(connection, item), ask(connection, item)] for item in range(BLOCKED + 1)}
        with conductor(database) as settles:
            passes(settles)
            end(connection, *(leader for leader, _ in asked.values()))
            *blocked, free = [follower for _, follower in asked.values()]
            other.execute("select from switchyard.yard where action_uuid = any (%s) for update", [blocked])
            assert passes(settles) < BLOCKED * PROMISED, "there is not a wait for each"
            assert status(database, free) == "SUCCESSFUL"
            other.rollback()
            passes(settles)
    assert {status(database, uuid) for uuid in blocked} == {"SUCCESSFUL"}


def test_what_takes_for_ever_is_set_aside_and_the_others_go_on(database: Database) -> None:
    """Somebody's trigger sleeps; the statement's time limit ends it, and not what the rest of the batch did."""
    with database.connect() as connection:
        connection.execute(HEAVY)
        connection.execute(
            "create trigger heavy before insert on switchyard.action for each row execute function heavy()"
        )
        cursed = campaigns.start(connection, "heavy")
        others = [campaigns.start(connection, f"c{number}") for number in range(3)]
        for uuid in (cursed, *others):
            campaigns.feed(connection, uuid, campaigns.items(range(3)))
        with conductor(database) as settles:
            passes(settles, 1)
            assert passes(settles, 1) < TIMEOUT, "it is set aside"
        assert all(len(campaigns.members(database, uuid)) == 3 for uuid in others)
        assert campaigns.members(database, cursed) == []
        assert campaigns.row(database, "heavy")["source_error"].endswith("due to statement timeout")
        connection.execute("drop trigger heavy on switchyard.action")
        connection.execute("update switchyard.campaign set not_before = now()")
        passes(connection, 1)
    assert len(campaigns.members(database, cursed)) == 3


@pytest.mark.parametrize("kind", ["waiter", "set", "key"])
def test_an_end_that_takes_for_ever_is_set_aside(database: Database, kind: str) -> None:
    with database.connect() as connection:
        connection.execute("create table public.cursed (action_uuid uuid)")
        connection.execute(
            "create function cursed() returns trigger language plpgsql as $$ begin"
            " if new.source in ('joins', 'sets', 'reuse') and exists (select from public.cursed c where c.action_uuid = new.action_uuid)"
            " then perform pg_sleep(60); end if; return new; end $$"
        )
        connection.execute(
            "create trigger cursed before insert on switchyard.event for each row execute function cursed()"
        )
        first, second = pair(connection, kind)
        connection.execute("insert into public.cursed values (%s)", [first])
        with conductor(database) as settles:
            passes(settles, 2)
            assert passes(settles, 1) < TIMEOUT, "it is set aside"
        assert moved(database, second)
        assert not moved(database, first)
        assert database.execute("select kind, subject from switchyard.inbox where kind = 'join'") == [
            ("join", str(first))
        ]


def pair(connection: Connection, kind: str) -> tuple[UUID, UUID]:
    """Two that could be settled now; the first comes first."""
    if kind == "waiter":
        child = submit(connection)
        waiters = submit(connection, [child]), submit(connection, [child])
        end(connection, child)
        return waiters
    if kind == "set":
        graphs = [submit_graph(connection, {"nodes": nodes(a=""), "callbacks": []}) for _ in range(2)]
        end(connection, *(graph["a"] for graph in graphs))
        return graphs[0][None], graphs[1][None]
    announce(connection)
    asked = [(ask(connection, item), ask(connection, item)) for item in range(2)]
    passes(connection)
    end(connection, *(leader for leader, _ in asked))
    return asked[0][1], asked[1][1]


def moved(database: Database, uuid: UUID) -> bool:
    """Whether it was released, or has ended."""
    return status(database, uuid) == "SUCCESSFUL" or ready(database, uuid)
