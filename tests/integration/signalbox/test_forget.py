"""Results are forgotten over HTTP as on the command line: counted first, and by those who may."""

import json
from typing import Any

import httpx
import pytest

from tests.integration.reuse.rules import settle
from tests.integration.signalbox.conftest import Connect, Jobs, Token

RULE = {"version": "7", "key": ["$.scene"], "for": 3600, "shared": False}


@pytest.fixture
def results(jobs: Jobs) -> list[str]:
    """Three results that may be reused."""
    jobs.database.execute(
        "update switchyard.route set reuse = %s where workflow = 'plain' returning 1", json.dumps(RULE)
    )
    made = [jobs.submit("plain", scene=scene) for scene in "abc"]
    with jobs.database.connect() as connection:
        settle(connection)
        for job in made:
            jobs.succeed(job, {})
        settle(connection)
    assert reusable(jobs) == 3
    return made


def reusable(jobs: Jobs) -> int:
    ((count,),) = jobs.database.execute("select count(*) from switchyard.results")
    return int(count)


def asked(expected: int, **chosen: Any) -> dict[str, Any]:
    return {"filter": chosen, "expected": expected, "reason": "wrong bands"}


async def test_results_are_counted_and_forgotten(
    client: httpx.AsyncClient, jobs: Jobs, results: list[str]
) -> None:
    counted = await client.get("/results:forget", params={"workflow": "plain", "version": "7"})
    assert (counted.json()["count"], reusable(jobs)) == (3, 3)
    answer = await client.post("/results:forget", json=asked(1, action=results[0]))
    assert (answer.status_code, answer.json(), reusable(jobs)) == (200, {"forgotten": 1}, 2)
    answer = await client.post("/results:forget", json=asked(2, before="2999-01-01T00:00:00Z"))
    assert (answer.json(), reusable(jobs)) == ({"forgotten": 2}, 0)
    assert jobs.database.execute(
        "select actor, reason, detail ->> 'forgotten' from switchyard.journal where kind = 'forget_results'"
        " order by entry_id"
    ) == [("anonymous", "wrong bands", "1"), ("anonymous", "wrong bands", "2")]


async def test_nothing_is_forgotten_where_the_count_has_changed(
    client: httpx.AsyncClient, jobs: Jobs, results: list[str]
) -> None:
    answer = await client.post("/results:forget", json=asked(2, workflow="plain"))
    assert (answer.status_code, answer.json()["errors"]) == (409, [{"expected": 2, "matched": 3}])
    assert reusable(jobs) == 3
    assert jobs.database.execute("select from switchyard.journal where kind = 'forget_results'") == []


@pytest.mark.parametrize(
    "body", [asked(0), asked(1, odd="x"), asked(-1, workflow="x"), {"filter": {"workflow": "x"}, "expected": 1},
             asked(1, before="yesterday"), asked(1, before="2026-01-01T00:00:00"), asked(1, action="x"), asked(1, workflow="\0")],
)  # fmt: skip
async def test_what_is_not_valid_is_refused(client: httpx.AsyncClient, jobs: Jobs, body: Any) -> None:
    assert (await client.post("/results:forget", json=body)).status_code == 422


async def test_the_page_requires_a_reason_and_its_form_forgets_the_results(
    client: httpx.AsyncClient, jobs: Jobs, results: list[str]
) -> None:
    page = await client.get("/results:forget?workflow=plain&f=html")
    assert "Forget 3" in page.text
    form = {"filter.workflow": "plain", "expected": "3", "reason": "wrong bands"}
    answer = await client.post("/results:forget", data=form)
    assert (answer.status_code, answer.headers["location"], reusable(jobs)) == (303, "/journal", 0)


@pytest.mark.parametrize("role", ["submitter", "reader", "operator", "admin"])
@pytest.mark.parametrize("checked", [True, False])
async def test_operators_and_admins_may_and_the_database_agrees(
    connect: Connect, token: Token, jobs: Jobs, results: list[str], monkeypatch: pytest.MonkeyPatch, role: str, checked: bool
) -> None:  # fmt: skip
    """Also with the route's own check removed."""
    if not checked:
        monkeypatch.setattr("signalbox.endpoint.Endpoint.open_to", lambda *_: True)
    client = await connect(access={})
    answer = await client.post("/results:forget", json=asked(3, workflow="plain"), headers=token(role))
    may = role in ("operator", "admin")
    assert (answer.status_code, reusable(jobs)) == ((200, 0) if may else (403, 3))
