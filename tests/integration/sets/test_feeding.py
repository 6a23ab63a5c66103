"""Sources read into campaigns: each item once, whoever is killed and whatever the source holds."""

import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from psycopg import Connection
from psycopg.rows import dict_row

from switchyard.campaigns.feed import feed
from switchyard.campaigns.lines import LinesSource
from switchyard.campaigns.page import Cursor, Page, Source
from switchyard.campaigns.table import QuerySource
from tests.integration.sets.campaigns import members, row, run_to_the_end, start, write_lines
from tests.integration.sets.graphs import ends, verified
from tests.parts.database import Database

pytestmark = pytest.mark.database
KILLS = 50
KILL = (
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()"
    " and application_name = 'feeder' and xact_start is not null limit 1"
)


def feeder(database: Database) -> Connection[dict[str, Any]]:
    return psycopg.connect(database.url, autocommit=True, row_factory=dict_row, application_name="feeder")


def read_all(database: Database, campaign: UUID, source: Source) -> None:
    with feeder(database) as connection:
        for _ in feed(connection, campaign, source):
            pass


def until_complete(database: Database, campaign: UUID, source: Callable[[], Source]) -> None:
    """Start again after each kill, as a person would."""
    while not row(database)["complete"]:
        try:
            read_all(database, campaign, source())
        except psycopg.OperationalError:
            continue


def test_feeders_and_submitters_that_are_killed_lose_and_repeat_nothing(
    database: Database, tmp_path: Path
) -> None:
    lines = [{"id": f"s{number % 4000}", "n": number} for number in range(4100)]
    path = write_lines(tmp_path / "scenes.jsonl", lines)
    stop = threading.Event()

    def submits() -> None:
        while not stop.is_set():
            try:
                with feeder(database) as connection:
                    while not stop.is_set():
                        connection.execute("select switchyard.submit_items(50)")
            except psycopg.OperationalError:
                continue

    with database.connect() as connection:
        campaign = start(connection, in_flight=100_000)
    with ThreadPoolExecutor(3) as pool:
        submitter = pool.submit(submits)
        feeders = [
            pool.submit(until_complete, database, campaign, lambda: LinesSource(path, lines=20))
            for _ in range(2)
        ]
        kills = 0
        while kills < KILLS and not all(each.done() for each in feeders):
            kills += len(database.execute(KILL))
        for each in feeders:
            each.result(120)
        stop.set()
        submitter.result(60)
    with database.connect() as connection:
        run_to_the_end(database, connection, campaign)
    assert kills > 10
    found = row(database)
    assert (found["items"], found["repeated"], found["successful"]) == (4000, 100, 4000)
    rows = database.execute(
        "select parameters ->> 'id', parameters ->> 'n' from switchyard.action where member_of is not null"
    )
    assert sorted(rows) == sorted((f"s{number}", str(number)) for number in range(4000))
    assert len(ends(database, campaign)) == 1
    assert verified(database)


def test_a_file_with_lines_of_every_kind(database: Database, tmp_path: Path) -> None:
    path = tmp_path / "scenes.jsonl"
    good = ['{"id": "a"}', "", '{"scene": 7}', '{"id": 5}', '{"id": "last, without a newline"}']
    bad = [
        "[1]",
        "{",
        '{"id": "x", "n": NaN}',
        '{"id": "a\\u0000b"}',
        '{"id": "\\ud800"}',
        '{"id": true}',
        "[" * 100_000,
    ]
    path.write_text("\n".join([*bad, *good]))
    with database.connect() as connection:
        campaign = start(connection)
    read_all(database, campaign, LinesSource(path, lines=2))
    ids = database.execute("select id from switchyard.campaign_item order by place")
    assert ids == [("a",), ("line 10",), ("5",), ("last, without a newline",)]
    assert row(database)["rejected"] == len(bad)


def test_a_line_that_is_too_long_is_left_out_alone(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("switchyard.campaigns.lines.LONGEST", 64)
    path = write_lines(tmp_path / "scenes.jsonl", [{"id": "a"}, {"id": "b", "x": "y" * 300}, {"id": "c"}])
    with database.connect() as connection:
        campaign = start(connection)
    read_all(database, campaign, LinesSource(path))
    assert database.execute("select id from switchyard.campaign_item order by 1") == [("a",), ("c",)]
    assert row(database)["rejected"] == 1


def test_a_query_is_read_in_pages_without_writing(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("switchyard.campaigns.table.ROWS", 7)
    with database.connect() as connection:
        campaign = start(connection)
    with feeder(database) as connection:
        text = "select n as id, n % 3 as rest from generate_series(1, 50) as n;"
        read_all(database, campaign, QuerySource(connection, text))
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            QuerySource(connection, "select nextval('switchyard.event_id') as id").page({})
    found = database.execute(
        "select id::int, (parameters ->> 'rest')::int from switchyard.campaign_item order by 1"
    )
    assert found == [(number, number % 3) for number in range(1, 51)]


class Broken:
    """A source that fails after its first page."""

    def description(self) -> dict[str, Any]:
        return {}

    def page(self, cursor: Cursor) -> Page:
        if cursor:
            raise OSError("the catalogue answered 500")
        return Page([{"id": "a", "parameters": {}}], {"page": 1}, last=False)


def test_a_source_that_fails_is_reported_and_can_be_continued(database: Database) -> None:
    with database.connect() as connection:
        campaign = start(connection)
    for _ in range(2):
        with pytest.raises(OSError, match="answered 500"):
            read_all(database, campaign, Broken())
    assert database.execute("select subject, error from switchyard.inbox where kind = 'campaign'") == [
        ("spring", "the catalogue answered 500")
    ]
    assert (row(database)["items"], row(database)["complete"]) == (1, False)
    assert members(database, campaign) == []


def test_an_order_of_pages_makes_the_order_of_actions(database: Database, tmp_path: Path) -> None:
    ids = [f"s{number}" for number in range(300)]
    random.Random(3).shuffle(ids)
    with database.connect() as connection:
        campaign = start(connection, in_flight=7)
        read_all(
            database,
            campaign,
            LinesSource(write_lines(tmp_path / "s.jsonl", [{"id": i} for i in ids]), lines=40),
        )
        run_to_the_end(database, connection, campaign)
    found = database.execute(
        "select parameters ->> 'id' from switchyard.action where member_of is not null order by action_uuid"
    )
    assert found == [(each,) for each in ids]
