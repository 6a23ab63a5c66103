"""The clients have the same verbs with the same arguments, on a database and over HTTP, with and without `await`."""

import json
from datetime import UTC, datetime
from inspect import Parameter, iscoroutinefunction, signature
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from switchyard import AsyncSwitchyard, Switchyard, connect, connect_async
from switchyard.errors import BadInput
from switchyard.remote import AsyncClient, Client
from switchyard.submit.options import Options
from switchyard.submit.submission import Submission

VERBS = ["submit", "submit_many", "status", "events", "wait", "results", "why", "cancel", "retrigger"]
# Over HTTP there is no transaction of the caller's, and the actor is the token's.
NOT_OVER_HTTP = {"connection", "actor"}
SUBMIT: dict[str, Any] = {
    "name": None, "parameters": {}, "workflow": None, "idempotency_key": None, "lane": None, "after": (),
    "start_after": None, "priority": None, "tags": (), "callbacks": None, "connection": None,
}  # fmt: skip


def arguments(kind: type[Any], verb: str) -> list[tuple[str, Any, Any]]:
    shown = list(signature(getattr(kind, verb)).parameters.values())[1:]
    return [(each.name, each.kind, each.default) for each in shown]


@pytest.mark.parametrize("verb", VERBS)
def test_the_clients_take_the_same_arguments(verb: str) -> None:
    on_database = arguments(Switchyard, verb)
    assert arguments(AsyncSwitchyard, verb) == on_database
    over_http = [each for each in on_database if each[0] not in NOT_OVER_HTTP]
    assert arguments(Client, verb) == over_http
    assert arguments(AsyncClient, verb) == over_http
    assert iscoroutinefunction(getattr(AsyncSwitchyard, verb))
    assert iscoroutinefunction(getattr(AsyncClient, verb))


@pytest.mark.parametrize("kind", [Switchyard, AsyncSwitchyard])
def test_a_client_is_made_of_a_url_or_connection_and_a_configuration(kind: type[Any]) -> None:
    assert [(each.name, each.default) for each in signature(kind).parameters.values()] == [
        ("url_or_connection", None),
        ("config", None),
    ]


@pytest.mark.parametrize("kind", [Switchyard, AsyncSwitchyard])
def test_submit_names_each_argument(kind: type[Any]) -> None:
    shown = signature(kind.submit).parameters
    assert {name: shown[name].default for name in SUBMIT} == SUBMIT
    by_name = {name for name, each in shown.items() if each.kind is Parameter.KEYWORD_ONLY}
    assert by_name == {*Options.__annotations__, "connection"}
    assert signature(kind.submit).return_annotation is UUID


def test_an_option_is_a_field_of_a_submission() -> None:
    assert {"action_name", "parameters", *Options.__annotations__} == set(Submission.__match_args__)


@pytest.mark.parametrize("make", [connect, connect_async])
def test_connect_takes_an_address_and_a_token(make: Any) -> None:
    assert list(signature(make).parameters)[:2] == ["url", "token"]


def served(sent: list[httpx.Request]) -> Client:
    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        return httpx.Response(201, json={"jobID": str(uuid4())})

    return Client(httpx.Client(base_url="https://jobs.example", transport=httpx.MockTransport(answer)))


def test_a_misspelt_option_is_refused_before_anything_is_sent() -> None:
    sent: list[httpx.Request] = []
    with served(sent) as client, pytest.raises(TypeError, match="wrokflow"):
        client.submit("nutrient", wrokflow="nutrient")  # type: ignore[call-arg]
    with Switchyard("host=127.0.0.1 port=1") as yard, pytest.raises(TypeError, match="wrokflow"):
        yard.submit("nutrient", wrokflow="nutrient")  # type: ignore[call-arg]
    assert sent == []


def test_what_the_http_api_does_not_take_is_refused_by_name() -> None:
    sent: list[httpx.Request] = []
    with served(sent) as client, pytest.raises(BadInput, match="parent_uuid: not possible over HTTP"):
        client.submit("nutrient", parent_uuid=uuid4())
    assert sent == []


def test_what_a_job_waits_for_is_sent_over_http() -> None:
    sent: list[httpx.Request] = []
    first, start = uuid4(), datetime(2030, 1, 1, tzinfo=UTC)
    with served(sent) as client:
        client.submit("nutrient", after=[first], start_after=start, callbacks=[{"name": "done"}], tags=("a",))
    assert json.loads(sent[0].content)["switchyard"] == {
        "priority": 100,
        "after": [str(first)],
        "start_after": "2030-01-01T00:00:00+00:00",
        "callbacks": [{"name": "done"}],
        "tags": ["a"],
    }
