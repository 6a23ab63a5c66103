"""Hostile requests are refused with a clear answer, and nothing else is affected."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from switchyard.handlers import Invalid
from tests.integration.backends.http.making import handler, work
from tests.integration.backends.http.servers import raw, says
from tests.integration.signalbox.conftest import Connect, Jobs

EXECUTE = "/processes/plain/execution"
JSON = {"Content-Type": "application/json"}


def nested(levels: int) -> bytes:
    return b'{"inputs": {"a": ' + b"[" * levels + b"]" * levels + b"}}"


@pytest.mark.parametrize(
    ("content", "statuses"),
    [
        (nested(3000), {400, 422}),
        (nested(500), {422}),
        (b'{"inputs": {"a": ' + b"9" * 5000 + b"}}", {400, 422}),
        (b'{"inputs": {"a": 1e999}}', {400, 422}),
        (b'{"inputs": {"a": NaN}}', {400}),
        (b'{"inputs": {"a": "\\u0000"}}', {422}),
        (b'{"inputs": {"a": "\\ud800"}}', {422}),
        (b"\xff\xfe", {400}),
        (b"", {400}),
        (b"[]", {422}),
        (b"null", {422}),
        (b'{"inputs": {}} trailing', {400}),
        (b'{"inputs": {"a": "' + b"x" * 1_200_000 + b'"}}', {422}),
        (b"x" * 10_000_000, {413}),
    ],
    ids=lambda value: str(value)[:30] if isinstance(value, bytes) else "",
)
async def test_a_body_that_nobody_should_store(
    client: httpx.AsyncClient, jobs: Jobs, content: bytes, statuses: set[int]
) -> None:
    answer = await client.post(EXECUTE, content=content, headers=JSON)
    assert answer.status_code in statuses, answer.text
    assert answer.json()["status"] == answer.status_code
    assert jobs.database.execute("select count(*) from switchyard.action") == [(0,)]
    assert (await client.post(EXECUTE, json={"inputs": {"a": 1}})).status_code == 201


async def test_a_body_of_unknown_length_is_cut_off(client: httpx.AsyncClient, jobs: Jobs) -> None:
    sent = 0

    async def endless() -> Any:
        nonlocal sent
        while sent < 1000:
            sent += 1
            yield b" " * 65536

    answer = await client.post(EXECUTE, content=endless(), headers=JSON)
    assert answer.status_code == 413
    assert sent < 100


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "multipart/form-data; boundary=x", ""])
async def test_a_body_of_another_type_is_refused(client: httpx.AsyncClient, jobs: Jobs, kind: str) -> None:
    answer = await client.post(EXECUTE, content=b"{}", headers={"Content-Type": kind})
    assert answer.status_code == 415


@pytest.mark.parametrize(
    "path",
    ["/jobs?error=%00", "/jobs?processID=%00", "/processes/%00", "/jobs/%00", "/actions?name=%00", "/jobs?error=%ff",
     "/processes/..%2f..%2fetc", "/static/..%2f..%2fapp.py", "/static/../app.py", "/static/%2e%2e/app.py", "/queues/%00/pause"],
)  # fmt: skip
async def test_odd_characters_cause_no_server_error(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path)
    assert answer.status_code in (200, 400, 404, 422), answer.text
    assert "SignalboxProgram" not in answer.text


@pytest.mark.parametrize(
    "key", ["", "x" * 256, "a\tb"], ids=["empty", "long", "tab"]
)  # fmt: skip
async def test_an_idempotency_key_that_is_not_one(client: httpx.AsyncClient, jobs: Jobs, key: str) -> None:
    answer = await client.post(EXECUTE, json={}, headers={"Idempotency-Key": key})
    assert answer.status_code == 400


async def test_errors_carry_no_parameters_and_no_traceback(
    connect: Connect, jobs: Jobs, capfd: pytest.CaptureFixture[str]
) -> None:
    client = await connect()
    secret = "password-of-somebody"
    jobs.submit("plain", secret=secret)
    answer = await client.post("/processes/nutrient/execution", json={"inputs": {"scene": {"deep": secret}}})
    assert answer.status_code == 422
    await client.post(EXECUTE, content=json.dumps({"inputs": {"a": secret + "\0"}}), headers=JSON)
    assert secret not in "".join(capfd.readouterr())


async def test_a_subscriber_must_be_a_web_address(connect: Connect, jobs: Jobs) -> None:
    client = await connect(subscriber_action="hook")
    for address in ("file:///etc/passwd", "gopher://x", "javascript:alert(1)", "", "//x"):
        answer = await client.post(EXECUTE, json={"subscriber": {"successUri": address}})
        assert answer.status_code == 422


@pytest.mark.parametrize("address", ["{own}", "http://169.254.169.254/latest/meta-data", "http://[::1]/"])
async def test_a_subscriber_of_the_inside_is_not_called(
    connect: Connect, jobs: Jobs, tmp_path: Path, address: str
) -> None:
    """Its callback is of an action of type http, which refuses the address before it connects."""
    client = await connect(subscriber_action="hook")
    async with raw(says(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")) as inside:
        subscriber = {"successUri": address.format(own=inside.url)}
        answer = await client.post(EXECUTE, json={"subscriber": subscriber})
        assert answer.status_code == 201
        (([callback],),) = jobs.database.execute("select callbacks from switchyard.action")
        assert callback["action"] == "hook"
        async with handler(tmp_path, allow_networks=()) as made:
            outcome = await made.dispatch(work({"url": callback["parameters"]["url"]["value"]}))
        assert isinstance(outcome, Invalid)
        assert inside.connections == 0


async def test_an_input_by_reference_is_passed_on_and_not_fetched(
    client: httpx.AsyncClient, jobs: Jobs
) -> None:
    async with raw(says(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")) as inside:
        inputs = {"a": {"href": inside.url}, "b": [{"href": "file:///etc/passwd"}]}
        answer = await client.post(EXECUTE, json={"inputs": inputs})
        assert answer.status_code == 201
        job = answer.json()["jobID"]
        assert (await client.get(f"/jobs/{job}/inputs")).json()["inputs"] == inputs
        for below in ("", "/results", "/features", "/files", "/archive"):
            await client.get(f"/jobs/{job}{below}")
        assert inside.connections == 0


@pytest.mark.parametrize(
    "name", ["..%2Finput.json", "%2e%2e%2finput.json", "..%5cinput.json", "%2Fetc%2Fpasswd"]
)
async def test_no_name_of_a_result_leads_out_of_it(client: httpx.AsyncClient, jobs: Jobs, name: str) -> None:
    job = jobs.submit("plain")
    jobs.store.put(f"executions/{job}/r1/input.json", b"secret")
    jobs.succeed(job, {"a": 1, "files": [{"name": "../input.json", "key": f"executions/{job}/input.json"}]})
    for below in ("results", "files"):
        answer = await client.get(f"/jobs/{job}/{below}/{name}")
        assert answer.status_code == 404, answer.text
        assert "secret" not in answer.text


async def test_every_answer_has_the_security_headers(client: httpx.AsyncClient, jobs: Jobs) -> None:
    for path in ("/", "/nothing", "/jobs?f=html", "/static/signalbox.css", "/jobs?limit=x"):
        headers = (await client.get(path)).headers
        assert "'unsafe-inline'" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
        assert headers["referrer-policy"] == "same-origin"
        assert "server" not in headers


async def test_markup_in_submitted_values_is_escaped_on_every_page(
    client: httpx.AsyncClient, jobs: Jobs
) -> None:
    evil = "<script>alert(1)</script>"
    job = jobs.submit("plain", **{evil: evil})
    jobs.report(job, "FAILED", evil)
    jobs.database.execute("select switchyard.pause(%s, %s, %s)", evil, evil, evil)
    for path in (
        "/",
        "/jobs",
        f"/jobs/{job}",
        "/inbox",
        "/queues",
        "/journal",
        "/processes",
        "/nothing" + evil,
    ):
        page = await client.get(path, params={"f": "html"})
        assert evil not in page.text, path


async def test_the_name_of_a_file_is_text_and_its_content_has_no_rights(
    client: httpx.AsyncClient, jobs: Jobs
) -> None:
    name, job = "<img src=x onerror=alert(1)>.html", jobs.submit("plain")
    jobs.store.put(f"executions/{job}/r1/{name}", b"<script>alert(1)</script>")
    jobs.succeed(job, {"files": [{"name": name, "key": f"executions/{job}/r1/{name}"}]})
    page = (await client.get(f"/jobs/{job}", params={"f": "html"})).text
    assert name not in page
    assert "&lt;img src=x onerror=alert(1)&gt;.html" in page
    [file] = (await client.get(f"/jobs/{job}/files")).json()["files"]
    answer = await client.get(file["href"])
    assert answer.content == b"<script>alert(1)</script>"
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none'")
