"""Secrets reach the partner and nothing else: no outcome, no log line, no transcript, however they come back."""

import base64
import json
import logging
from pathlib import Path
from urllib.parse import quote

import pytest
from aiohttp import web

from switchyard.handlers import Outcome
from switchyard.process.log import configure
from tests.integration.backends.http.making import handler, work
from tests.integration.backends.http.servers import CountingServer, counting

TOKEN = 'tok"en/with+odd ü chars-91'
PLAIN = "plain-token-4711"
SIGNING = base64.b64encode(b"signing-key-that-nobody-may-see!").decode()
PASSWORD = "basic-password-0815"
IN_URL = "userinfo-password-31"


class Echo(CountingServer):
    """Repeats everything it received, as careless servers do in their errors."""

    async def answer(self, request: web.Request) -> web.Response:
        await super().answer(request)
        seen = self.asked[-1]
        parts = [seen.path, json.dumps(seen.headers), seen.body.decode()]
        parts += [value.removeprefix("Bearer ").upper() for value in seen.headers.values()]
        headers = {"X-Echo": quote(seen.path), "Location": f"https://a.example/?t={quote(TOKEN)}"}
        return web.Response(status=self.status, text=" ".join(parts), headers=headers)


def spellings() -> list[str]:
    found = []
    for secret in (TOKEN, PLAIN, SIGNING, PASSWORD, IN_URL, f"user:{PASSWORD}", f"me:{IN_URL}"):
        raw = base64.b64encode(secret.encode()).decode().rstrip("=")
        found += [secret, quote(secret, safe=""), json.dumps(secret)[1:-1], raw]
    return [*found, f"PREFIX-{PLAIN.upper()}"]


REQUEST = {
    "url": "{{ parameters.base }}/hook/{{ secrets.plain }}?key={{ secrets.plain | urlencode }}",
    "headers": {
        "X-Api-Key": "{{ secrets.plain }}",
        "X-Quiet": "prefix-{{ secrets.plain }}",
        "X-Loud": "{{ ('prefix-' ~ secrets.plain) | upper }}",
    },
    "body": {"token": "{{ secrets.token }}", "text": "it is {{ secrets.token }}!", "id": "{{ action.uuid }}"},
    "sign": {"secrets": ["env:SIGNING_KEY"]},
}


@pytest.mark.parametrize("status", [200, 302, 400, 500])
async def test_an_echoing_server(
    status: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SIGNING_KEY", SIGNING)
    configure(json=True, level="debug")
    server = Echo(status=status)
    secrets = {"token": TOKEN, "plain": PLAIN}
    async with counting(server), handler(tmp_path, secrets=secrets, request=REQUEST) as made:
        base = server.url.removesuffix("/hook")
        outcomes = [await made.dispatch(work({"base": base}))]
        outcomes.append(await made.dispatch(work({"base": "http://127.0.0.1:1"})))
        outcomes.append(await made.dispatch(work({"base": "http://10.0.0.1"})))
        outcomes.append(await made.dispatch(work({"base": f"http://me:{IN_URL}@[::1"})))
        outcomes.append(await made.dispatch(work({})))
    assert TOKEN in json.loads(server.asked[0].body)["text"], "the partner gets the secret"
    assert server.asked[0].headers["x-quiet"] == f"prefix-{PLAIN}"
    check_clean(tmp_path, outcomes, capfd)


async def test_basic_authentication_and_userinfo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PASSWORD", PASSWORD)
    server = Echo(status=400)
    outcomes = []
    async with counting(server):
        async with handler(tmp_path, auth={"user": "user", "password": "env:PASSWORD"}) as made:
            outcomes.append(await made.dispatch(work({"url": server.url})))
        async with handler(tmp_path) as made:
            outcomes.append(await made.dispatch(work({"url": server.url.replace("//", f"//me:{IN_URL}@")})))
    assert len(server.asked) == 2
    assert all(asked.headers["authorization"].startswith("Basic ") for asked in server.asked)
    check_clean(tmp_path, outcomes, capfd)


def check_clean(folder: Path, outcomes: list[Outcome], capfd: pytest.CaptureFixture[str]) -> None:
    for outcome in outcomes:
        logging.getLogger("http").warning("outcome %s", outcome)
    files = [path.read_text() for path in folder.rglob("*") if path.is_file()]
    captured = capfd.readouterr()
    assert files
    for text in (*map(repr, outcomes), *files, captured.out, captured.err):
        for secret in spellings():
            assert secret not in text, f"{secret} in {text[:2000]}"
