"""A set of many members: one end, once, soon after the last; and what people see of it meanwhile."""

import time
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest

from tests.integration.sets.campaigns import feed, items, members, row, start, submit_items
from tests.integration.sets.graphs import ends, nodes, settle, submit_graph, tally, verified
from tests.integration.waiting.joins import end
from tests.parts.database import Database

pytestmark = pytest.mark.database
MANY = 20_000


def _ends(database: Database, uuids: list[UUID]) -> None:
    with database.connect() as connection:
        for first in range(0, len(uuids), 500):
            end(connection, *uuids[first : first + 500])


def test_newuser_3_twenty_thousand_members_have_one_end(database: Database) -> None:
    with database.connect() as connection:
        campaign = start(connection, in_flight=MANY)
        for page in range(MANY // 5000):
            feed(
                connection,
                campaign,
                items(range(5000 * page, 5000 * (page + 1))),
                page,
                page == MANY // 5000 - 1,
            )
        submit_items(connection)
        settle(connection)
        found = members(database, campaign)
        assert len(found) == MANY
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda half: _ends(database, found[half::2]), range(2)))
        began = time.monotonic()
        submit_items(connection)
        settle(connection)
        took = time.monotonic() - began
    assert ends(database, campaign) == [(1, "SUCCESSFUL", None)]
    assert tally(database, campaign) == (MANY, MANY, 0, 0)
    assert len(database.execute("select n from switchyard.tally")) < 10  # folded
    assert took < 10  # it does not look at every member


def test_why_and_the_inbox_name_the_members(database: Database) -> None:
    with database.connect() as connection:
        graph = submit_graph(connection, {"nodes": nodes(a="", b="")})
        end(connection, graph["a"])
        campaign = start(connection)
        feed(connection, campaign, items("abc"), last=False)
        why = "select switchyard.why(%s)"
        [(of_graph,)] = connection.execute(why, [graph[None]]).fetchall()
        [(of_campaign,)] = connection.execute(why, [campaign]).fetchall()
        assert of_graph == "It ends with the last of its 2 members: 1 are open and 1 have ended."
        assert "its source has not been read to the end" in of_campaign
        stuck = "select subject from switchyard.inbox where kind = 'campaign_stuck'"
        assert connection.execute(stuck).fetchall() == []
        connection.execute(
            "update switchyard.thread set last_update = now() - interval '2 hours' where action_uuid = %s",
            [campaign],
        )
        assert connection.execute(stuck).fetchall() == [("spring",)]
    assert row(database)["stuck"]
    assert verified(database)
