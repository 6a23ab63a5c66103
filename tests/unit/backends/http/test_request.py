"""From an action to its request: what makes none, and what people see of one that holds secrets."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from yarl import URL

from switchyard.backends.http.answer import Answer
from switchyard.backends.http.request import OutgoingRequest, RequestTemplate
from switchyard.backends.http.send import next_hop
from switchyard.backends.http.transcript import transcript
from switchyard.backends.http.url import UrlError
from switchyard.errors import ConfigError
from switchyard.handlers import Work

SECRETS = {"partner": "s3cret word"}
WORK = Work(uuid4(), 1, 1, False, "hook", None, None, None, {}, "c-1", datetime.now(UTC))


def prepared(
    url: str = "https://a.example/", parameters: dict[str, Any] | None = None, **more: Any
) -> OutgoingRequest:
    settings = {"method": "post", "headers": {}, "body": None, "secrets": SECRETS, **more}
    return RequestTemplate(url=url, **settings).prepare(replace(WORK, parameters=parameters or {}), 0.0)


def test_a_url_that_is_not_text() -> None:
    with pytest.raises(UrlError, match="the URL must be a string"):
        prepared("{{ parameters.url }}", {"url": 5})


def test_credentials_go_out_once() -> None:
    request = prepared("https://ann:word@a.example/")
    assert request.headers["Authorization"] == "Basic YW5uOndvcmQ="
    assert str(request.url) == request.shown_url == "https://a.example/"
    for more in ({"headers": {"authorization": "x"}}, {"authorization": "Bearer x"}):
        with pytest.raises(UrlError, match="there is an Authorization header too"):
            prepared("https://ann:word@a.example/", **more)


def test_a_header_that_is_not_a_name_is_refused_at_the_start() -> None:
    with pytest.raises(ConfigError, match="'X Y' is not a header name"):
        prepared(headers={"X Y": "1"})


def test_a_url_made_of_secrets_is_shown_with_masks_or_not_at_all() -> None:
    assert (
        "s3cret" not in prepared("https://a.example/?key={{ secrets.partner | replace(' ', '') }}").shown_url
    )
    host = prepared("https://{{ secrets.partner | replace(' ', '-') }}.example/x")
    assert (host.url.host, host.shown_url) == ("s3cret-word.example", "https://…")


def test_a_text_made_of_secrets_is_masked_wherever_it_comes_back() -> None:
    request = prepared(body="key {{ secrets.partner | replace(' ', '-') }}")
    answer = Answer(200, "", {}, b'it said "key s3cret-word"', None)
    answer.hops = ["https://a.example/key s3cret-word"]
    line = transcript(WORK, request, answer, error=None, began=0.0, seconds=0.1, cut=1000).decode()
    assert request.body == b"key s3cret-word"
    assert "s3cret" not in line
    assert '"redirects":["https://a.example/' in line


def test_a_document_with_a_secret_is_shown_with_a_mask() -> None:
    request = prepared(body={"key": "{{ secrets.partner }}", "n": 1})
    assert request.body == b'{"key":"s3cret word","n":1}'
    assert request.shown_body == b'{"key":"[redacted]","n":1}'
    assert request.shown_url == "https://a.example/"


@pytest.mark.parametrize(
    ("headers", "body", "sent"),
    [
        ({}, {"n": 1}, {"Content-Type": "application/json"}),
        ({}, "text", {"Content-Type": "text/plain; charset=utf-8"}),
        ({"content-TYPE": "application/geo+json"}, {"n": 1}, {"content-TYPE": "application/geo+json"}),
        ({}, None, {}),
    ],
)
def test_the_body_states_what_it_is_unless_the_action_does(
    headers: dict[str, str], body: Any, sent: dict[str, str]
) -> None:
    told = prepared(headers=headers, body=body).headers
    assert {name: value for name, value in told.items() if name.lower() == "content-type"} == sent


def test_a_redirect_does_not_leave_tls() -> None:
    request = OutgoingRequest("u", "POST", URL("https://a.example/"), {})
    with pytest.raises(UrlError, match="the redirect leaves TLS"):
        next_hop(request, 307, "http://a.example/")


@pytest.mark.parametrize("userinfo", ["user", "user:pass"])
def test_a_redirect_brings_no_credentials(userinfo: str) -> None:
    request = OutgoingRequest("u", "POST", URL("https://a.example/"), {})
    with pytest.raises(UrlError, match="contains credentials"):
        next_hop(request, 307, f"https://{userinfo}@a.example/")


def test_a_body_with_a_secret_is_sent_to_the_first_host_alone() -> None:
    request = OutgoingRequest("u", "POST", URL("https://a.example/"), {}, body=b"x", secret_body=True)
    with pytest.raises(UrlError, match="the body holds a secret"):
        next_hop(request, 307, "https://b.example/")
    hop = next_hop(request, 307, "https://a.example/b")
    assert hop is not None
    assert hop.body == b"x"


@pytest.mark.parametrize("status", [301, 302, 303])
def test_a_post_is_not_followed_where_it_would_become_a_get(status: int) -> None:
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        request = OutgoingRequest("u", method, URL("https://a.example/"), {})
        assert next_hop(request, status, "https://a.example/b") is None
    for method in ("GET", "HEAD"):
        hop = next_hop(OutgoingRequest("u", method, URL("https://a.example/"), {}), status, "/b")
        assert hop is not None
        assert (hop.method, str(hop.url)) == (method, "https://a.example/b")


@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_that_keeps_the_method_is_followed_by_any(status: int) -> None:
    hop = next_hop(OutgoingRequest("u", "POST", URL("https://a.example/"), {}, body=b"x"), status, "/b")
    assert hop is not None
    assert (hop.method, hop.body, hop.shown_url) == ("POST", b"x", "https://a.example/b")


@pytest.mark.parametrize("status", [200, 300, 304, 305, 306, 309, 400])
def test_no_other_answer_is_a_redirect(status: int) -> None:
    assert next_hop(OutgoingRequest("u", "GET", URL("https://a.example/"), {}), status, "/b") is None
    assert next_hop(OutgoingRequest("u", "GET", URL("https://a.example/"), {}), 307, None) is None


def test_another_host_gets_no_header_that_is_private_or_sounds_like_a_secret() -> None:
    headers = {
        "X-Partner": "made of a secret",
        "X-Api-Key": "plain",
        "Webhook-Signature": "v1,x",
        "Accept": "*/*",
    }
    request = OutgoingRequest("u", "POST", URL("https://a.example/"), headers, frozenset({"X-Partner"}))
    hop = next_hop(request, 307, "https://b.example/")
    assert hop is not None
    assert set(hop.headers) == {"Webhook-Signature", "Accept"}
    same = next_hop(request, 307, "https://a.example/b")
    assert same is not None
    assert same.headers == headers
