"""Campaigns from the search of a real STAC API, with whatever a catalogue may answer."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import psycopg
import pytest

from switchyard.campaigns.catalogue import SearchSource
from switchyard.errors import BadInput, SwitchyardError, Transient
from tests.integration.sets.campaigns import row, run_to_the_end, start
from tests.integration.sets.front import Answer, Front, Page, changed, front, next_link, status
from tests.integration.sets.graphs import ends, verified
from tests.integration.sets.test_feeding import KILL, KILLS, read_all, until_complete
from tests.parts.database import Database
from tests.parts.stac import StacApi

PAGE = 100
ITEMS = 1000
MANY = 5000


@pytest.fixture(scope="module")
def collection(stac: StacApi) -> str:
    name = stac.collection()
    stac.load(name, [feature(name, f"s{number:04}") for number in range(ITEMS)])
    return name


@pytest.fixture
def catalogue(stac: StacApi) -> Iterator[Front]:
    with front(stac.url) as made:
        yield made


def feature(collection: str, name: str) -> dict[str, Any]:
    point = {"type": "Point", "coordinates": [-1.5, 52.0]}
    properties = {"datetime": "2026-03-01T00:00:00Z"}
    described = {
        "type": "Feature",
        "stac_version": "1.0.0",
        "links": [],
        "assets": {},
        "bbox": [-1.5, 52, -1.5, 52],
    }
    return described | {"id": name, "collection": collection, "geometry": point, "properties": properties}


def search(catalogue: Front, collection: str) -> SearchSource:
    return SearchSource(catalogue.url, {"collections": [collection], "limit": PAGE})


def read(database: Database, source: SearchSource) -> dict[str, Any]:
    """Read once; the campaign's row."""
    with database.connect() as connection:
        campaign = start(connection)
    with suppress(SwitchyardError, psycopg.Error):
        read_all(database, campaign, source)
    return row(database)


def test_every_item_of_every_page_becomes_one_action(
    database: Database, catalogue: Front, collection: str
) -> None:
    catalogue.faults = {2: status(500), 4: status(429, Retry_After="1"), 6: status(503)}
    with database.connect() as connection:
        campaign = start(connection, in_flight=2000)
        read_all(database, campaign, search(catalogue, collection))
        run_to_the_end(database, connection, campaign)
    assert ends(database, campaign) == [(1, "SUCCESSFUL", None)]
    found = database.execute(
        "select parameters -> 'item' ->> 'id' from switchyard.action where member_of = %s", campaign
    )
    assert sorted(name for (name,) in found) == [f"s{number:04}" for number in range(ITEMS)]
    assert catalogue.searches in {ITEMS // PAGE + 3, ITEMS // PAGE + 4}  # the last page may be empty
    assert verified(database)


def test_five_thousand_items_are_run_once_though_the_feeders_are_killed(
    database: Database, stac: StacApi, catalogue: Front
) -> None:
    name = stac.collection()
    for first in range(0, MANY, ITEMS):
        stac.load(name, [feature(name, f"s{number:04}") for number in range(first, first + ITEMS)])
    with database.connect() as connection:
        campaign = start(connection, in_flight=MANY)
    source = lambda: SearchSource(catalogue.url, {"collections": [name], "limit": PAGE})  # noqa: E731
    with ThreadPoolExecutor(2) as pool:
        feeders = [pool.submit(until_complete, database, campaign, source) for _ in range(2)]
        kills = 0
        while not all(each.done() for each in feeders):
            kills += len(database.execute(KILL)) if kills < KILLS else 0
            time.sleep(0.001)  # two feeders must find the time to store a page
        for each in feeders:
            each.result(120)
    with database.connect() as connection:
        run_to_the_end(database, connection, campaign)
    found = database.execute(
        "select parameters -> 'item' ->> 'id' from switchyard.action where member_of = %s", campaign
    )
    assert sorted(found) == [(f"s{number:04}",) for number in range(MANY)]
    assert ends(database, campaign) == [(1, "SUCCESSFUL", None)]
    assert (row(database)["items"], row(database)["complete"], row(database)["repeated"]) == (MANY, True, 0)
    assert kills > 0


def test_an_interrupted_read_continues_from_its_last_link(
    database: Database, catalogue: Front, collection: str
) -> None:
    catalogue.faults = {4: status(400)}
    stopped = read(database, search(catalogue, collection))
    assert (stopped["items"], stopped["complete"]) == (300, False)
    assert "status 400" in stopped["source_error"]
    [(reason,)] = database.execute(
        "select reason from switchyard.journal where kind = 'campaign' and needs_review"
    )
    assert reason == stopped["source_error"]
    before = catalogue.searches
    whole = read(database, search(catalogue, collection))
    assert (whole["items"], whole["complete"], whole["repeated"], whole["source_error"]) == (
        ITEMS,
        True,
        0,
        None,
    )
    assert catalogue.searches - before <= 8


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda page: next_link(page).update(href="file:///etc/passwd"),
            "the link to the next page is broken",
        ),
        (lambda page: next_link(page).pop("href"), "the link to the next page is broken"),
        (lambda page: next_link(page).update(method="DELETE"), "the link to the next page is broken"),
        (lambda page: page.pop("features"), "the answer is not a list of items"),
    ],
)
def test_a_page_that_is_broken_stops_the_reading(
    database: Database, catalogue: Front, collection: str, change: Any, said: str
) -> None:
    catalogue.faults = {3: changed(change)}
    found = read(database, search(catalogue, collection))
    assert said in found["source_error"]
    assert found["items"] == 200  # a page is stored as a whole, with the link behind it


def test_a_next_link_that_leads_nowhere_stops_the_reading(
    database: Database, catalogue: Front, collection: str
) -> None:
    catalogue.faults = {2: changed(lambda page: next_link(page).update(href="/nowhere"))}
    found = read(database, search(catalogue, collection))
    assert (found["items"], found["complete"]) == (200, False)
    assert "/nowhere" in found["source_error"]


def test_a_page_that_leads_to_itself_stops_the_reading(
    database: Database, catalogue: Front, collection: str
) -> None:
    seen: list[dict[str, Any]] = []

    def again(page: Page) -> None:
        next_link(page)["body"] = seen[0]

    def note(answer: Answer) -> None:
        page = answer.page()
        seen.append(dict(next_link(page)["body"]))
        changed(lambda _: None)(answer)

    catalogue.faults = {1: note, 2: changed(again)}
    found = read(database, search(catalogue, collection))
    assert "leads to the page itself" in found["source_error"]


def test_pages_that_repeat_each_other_are_bounded(
    database: Database, catalogue: Front, collection: str
) -> None:
    def around(page: Page) -> None:
        number = catalogue.searches
        next_link(page)["body"] = {"collections": [collection], "limit": 1, "turn": number}

    catalogue.faults = dict.fromkeys(range(1, 200), changed(around))
    source = SearchSource(catalogue.url, {"collections": [collection], "limit": 1})
    found = read(database, source)
    assert "100 pages in a row with nothing new" in found["source_error"]
    assert (found["items"], catalogue.searches < 110) == (1, True)


def test_items_without_an_id_are_counted(database: Database, catalogue: Front, collection: str) -> None:
    def nameless(page: Page) -> None:
        page["features"][0].pop("id")
        page["features"][1] = 3

    catalogue.faults = {1: changed(nameless)}
    found = read(database, search(catalogue, collection))
    assert (found["items"], found["rejected"], found["complete"]) == (ITEMS - 2, 2, True)


def test_credentials_are_sent_only_to_the_catalogue(
    database: Database, catalogue: Front, collection: str, stac: StacApi
) -> None:
    with front(stac.url) as other:
        elsewhere = changed(lambda page: next_link(page).update(href=f"{other.url}/search"))
        catalogue.faults = {2: elsewhere}
        words = {"collections": [collection], "limit": PAGE}
        source = SearchSource(catalogue.url, words, {"X-Token": "hunter2"})
        found = read(database, source)
        assert (found["items"], found["complete"]) == (ITEMS, True)
        assert set(catalogue.tokens) == {"hunter2"}
        assert set(other.tokens) == {None}
    assert "hunter2" not in str(database.execute("select c::text from switchyard.campaign c"))


def test_no_redirect_is_followed_with_credentials(
    database: Database, catalogue: Front, collection: str
) -> None:
    catalogue.faults = {2: status(307, Location="http://127.0.0.1:9/search")}
    words = {"collections": [collection], "limit": PAGE}
    found = read(database, SearchSource(catalogue.url, words, {"X-Token": "hunter2"}))
    assert (found["items"], found["complete"]) == (PAGE, False)
    assert "redirect" in found["source_error"]


def test_a_link_that_has_expired_is_reported_as_such(
    database: Database, catalogue: Front, collection: str
) -> None:
    catalogue.faults = {3: status(400)}
    found = read(database, search(catalogue, collection))
    assert found["items"] == 2 * PAGE
    assert "the link to this page is refused; if it has expired" in found["source_error"]


def test_what_cannot_be_searched_is_refused(stac: StacApi) -> None:
    with pytest.raises(BadInput, match="colections"):
        SearchSource(stac.url, {"colections": ["a"]}).page({})
    with pytest.raises(BadInput, match="an address"):
        SearchSource("file:///etc", {})
    with pytest.raises(BadInput):
        SearchSource(f"{stac.url}/collections", {"collections": ["a"]}).page({})
    with pytest.raises(Transient):
        SearchSource("http://127.0.0.1:9", {"collections": ["a"]}).page({})
