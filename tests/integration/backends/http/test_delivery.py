"""An action becomes exactly one signed request, and its answer one outcome."""

import base64
import hmac
import json
from pathlib import Path
from typing import Any

import pytest

from switchyard.backends.http.handler import HttpHandler
from switchyard.errors import ConfigError
from switchyard.handlers import Failed, Invalid, Retry, Success
from tests.integration.backends.http.making import action, context, handler, kept, work
from tests.integration.backends.http.servers import CountingServer, counting

KEYS = [b"n" * 32, b"o" * 32]


def signing(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[str]]:
    for name, key in zip(("NEW_KEY", "OLD_KEY"), KEYS, strict=True):
        monkeypatch.setenv(name, "whsec_" + base64.b64encode(key).decode())
    return {"secrets": ["env:NEW_KEY", "env:OLD_KEY"]}


async def test_the_receiver_can_verify_either_signature(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = {"body": {"total": "{{ parameters.total }}"}, "sign": signing(monkeypatch)}
    async with counting() as server, handler(tmp_path, request=request) as made:
        asked = work({"url": server.url, "total": [1, None, "ü"]})
        outcome = await made.dispatch(asked)
    assert isinstance(outcome, Success)
    [seen] = server.asked
    assert seen.headers["webhook-id"] == str(asked.uuid)
    assert seen.headers["x-cdp-request-id"] == "corr-1"
    assert seen.headers["content-type"] == "application/json"
    assert json.loads(seen.body) == {"total": [1, None, "ü"]}
    signed = f"{asked.uuid}.{seen.headers['webhook-timestamp']}.".encode() + seen.body
    expected = ["v1," + base64.b64encode(hmac.digest(key, signed, "sha256")).decode() for key in KEYS]
    assert seen.headers["webhook-signature"].split(" ") == expected


@pytest.mark.parametrize(
    ("status", "kind"),
    [(200, Success), (204, Success), (302, Failed), (400, Failed), (404, Failed), (408, Retry), (429, Retry),
     (500, Retry), (503, Retry)],
)  # fmt: skip
async def test_outcomes_by_status(status: int, kind: type[Any], tmp_path: Path) -> None:
    server = CountingServer(status=status, headers={"Retry-After": "7"})
    async with counting(server), handler(tmp_path) as made:
        outcome = await made.dispatch(work({"url": server.url}))
    assert isinstance(outcome, kind)
    assert outcome.detail["status"] == status
    assert len(server.asked) == 1
    if isinstance(outcome, Retry):
        assert outcome.sent
        assert outcome.delay == 7
        assert outcome.error.startswith(f"answered {status}")


async def test_rules_of_the_configuration_decide(tmp_path: Path) -> None:
    rules = [
        {"status": 409, "path": "$.error", "matches": "already exists", "outcome": "success"},
        {"status": [408, 429, "500-599"], "outcome": "retry"},
        {"outcome": "failed"},
    ]
    server = CountingServer(status=409, body=b'{"error": "item already exists"}')
    async with counting(server), handler(tmp_path, responses=rules) as made:
        assert isinstance(await made.dispatch(work({"url": server.url})), Success)
        server.body = b'{"error": "conflict"}'
        outcome = await made.dispatch(work({"url": server.url}))
    assert isinstance(outcome, Failed)
    assert outcome.error == 'answered 409 Conflict: {"error": "conflict"}'


async def test_the_transcript_states_what_went_and_what_came(tmp_path: Path) -> None:
    server = CountingServer(body=b"x" * 50_000, headers={"Set-Cookie": "session=abc"})
    async with counting(server), handler(tmp_path, limits={"kept_body": "1KiB"}) as made:
        asked = work({"url": server.url + "?token=abc"}, attempt=3, run=2)
        outcome = await made.dispatch(asked)
    record = kept(tmp_path, outcome)
    assert (record["run"], record["attempt"], record["action_uuid"]) == (2, 3, str(asked.uuid))
    assert record["request"]["url"] == server.url + "?token=…"
    assert json.loads(record["request"]["body"]) == {"id": str(asked.uuid)}
    assert record["response"]["status"] == 200
    assert record["response"]["headers"]["set-cookie"] == "[redacted]"
    assert record["response"]["body"] == "x" * 1024
    assert (record["response"]["bytes"], record["response"]["cut"]) == (50_000, True)


@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT", "PATCH", "DELETE", "POST"])
async def test_every_method(method: str, tmp_path: Path) -> None:
    async with counting() as server, handler(tmp_path, request={"method": method, "body": None}) as made:
        assert isinstance(await made.dispatch(work({"url": server.url})), Success)
    assert [asked.method for asked in server.asked] == [method]
    assert server.asked[0].body == b""


async def test_credentials_in_a_url_go_out_as_authorization_and_are_shown_nowhere(tmp_path: Path) -> None:
    async with counting() as server, handler(tmp_path) as made:
        url = server.url.replace("http://", "http://me:s3cretword@")
        outcome = await made.dispatch(work({"url": url}))
    assert server.asked[0].headers["authorization"] == "Basic " + base64.b64encode(b"me:s3cretword").decode()
    assert "s3cretword" not in str(outcome)
    assert "s3cretword" not in json.dumps(kept(tmp_path, outcome))


@pytest.mark.parametrize(
    "headers",
    [{"Host": "evil"}, {"Content-Length": "0"}, {"Transfer-Encoding": "chunked"}, {"Connection": "upgrade"},
     {"Expect": "100-continue"}, {"X-A": "1", "x-a": "2"}, {"X-A": "{{ secrets.missing }}"}],
)  # fmt: skip
async def test_headers_that_only_the_client_may_set(headers: dict[str, str], tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"request\.headers"):
        HttpHandler("webhook", action(request={"headers": headers}), context(tmp_path))


async def test_nothing_is_sent_for_parameters_that_make_no_request(tmp_path: Path) -> None:
    async with counting() as server, handler(tmp_path) as made:
        outcome = await made.dispatch(work({"link": server.url}))
    assert isinstance(outcome, Invalid)
    assert outcome.error == "request.url: parameters has no 'url'"
    assert not server.asked


async def test_cookies_are_not_stored(tmp_path: Path) -> None:
    server = CountingServer(headers={"Set-Cookie": "session=abc"})
    async with counting(server), handler(tmp_path) as made:
        for _ in range(2):
            await made.dispatch(work({"url": server.url}))
    assert all("cookie" not in asked.headers for asked in server.asked)
