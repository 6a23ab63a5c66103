"""With the check of every route removed, the database still refuses: nothing is changed and nothing is shown."""

import re
from typing import Any

import pytest

import signalbox.app  # noqa: F401 - declares the endpoints
from signalbox.access.roles import Caller, Role
from signalbox.endpoint import ENDPOINTS, Endpoint
from tests.integration.signalbox.conftest import Connect, Jobs, Token

SECRET = "of-somebody-else"
GIVEN: dict[str, Any] = {
    "reason": "x",
    "filter": {"workflow": "plain"},
    "expected": 1,
    "inputs": {"scene": "a"},
}
STATE = """
    select (select count(*) from switchyard.action), (select count(*) from switchyard.event),
      (select count(*) from switchyard.yard), (select count(*) from switchyard.paused),
      (select count(*) from switchyard.journal), (select count(*) from switchyard.presentation),
      (select count(*) from switchyard.schedule where paused_at is not null),
      (select count(*) from switchyard.campaign where paused_at is not null)
"""


def closed_to(role: Role) -> list[Endpoint]:
    """The routes that a role may not call."""
    return [each for each in ENDPOINTS if not each.open_to(Caller("x", role))]


def body_of(endpoint: Endpoint) -> dict[str, Any] | None:
    """A body that the route accepts: what it must have, and its inputs."""
    if "body" not in endpoint.hints:
        return None
    fields = endpoint.hints["body"].model_fields
    return {name: GIVEN[name] for name, field in fields.items() if field.is_required() or name in GIVEN}


def fail_one_of_a_campaign(jobs: Jobs) -> None:
    """A campaign `run` with one item, which failed."""
    execute = jobs.database.execute
    ((campaign,),) = execute("select switchyard.start_campaign('run', '{}', 1, action_name => 'other')")
    execute("select switchyard.feed(%s, '{}', '[{\"id\": \"1\", \"parameters\": {}}]', '{}', true)", campaign)
    execute("select * from switchyard.submit_items()")
    ((member,),) = execute("select action_uuid from switchyard.action where member_of = %s", campaign)
    jobs.report(str(member), "FAILED", SECRET)


def test_there_are_such_routes() -> None:
    assert len(closed_to(Role.SUBMITTER)) > 25
    assert len(closed_to(Role.READER)) > 20


@pytest.mark.parametrize("role", [Role.SUBMITTER, Role.READER, Role.OPERATOR])
async def test_the_database_refuses_every_route_that_a_role_may_not_call(
    connect: Connect, token: Token, jobs: Jobs, monkeypatch: pytest.MonkeyPatch, role: Role
) -> None:
    closed = closed_to(role)
    job = jobs.submit("plain", note=SECRET)
    jobs.report(jobs.submit("plain", note=SECRET), "FAILED", SECRET)
    jobs.database.execute("select switchyard.pause(%s, %s, %s)", SECRET, SECRET, SECRET)
    fail_one_of_a_campaign(jobs)
    monkeypatch.setattr(Endpoint, "open_to", lambda *_: True)
    client, headers = await connect(access={}), token(role)
    before = jobs.database.execute(STATE)
    for endpoint in closed:
        path = re.sub(r"\{(job|action)\}", job, endpoint.path).replace("{entry}", "1")
        path = re.sub(r"\{name(:path)?\}", "run", path).replace("{decision}", "pause")
        body = body_of(endpoint)
        answer = await client.request(endpoint.method, path, headers=headers, json=body)
        assert answer.status_code < 500, (endpoint.method, path, answer.text)
        if endpoint.method != "GET":
            assert answer.status_code in (403, 404), (endpoint.method, path, answer.status_code)
        # A submitter sees nothing of others; the pages before a decision have no more than readers may see.
        assert role is not Role.SUBMITTER or SECRET not in answer.text, (path, answer.text)
        assert jobs.database.execute(STATE) == before, (endpoint.method, path)
