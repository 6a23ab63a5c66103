"""Signalbox while what it depends on goes away."""

import json
import socket
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from uuid import UUID

import httpx
import pytest

from switchyard.ledger import migrate
from switchyard.tokens import hash_of, new_token
from tests.acceptance.signalbox.test_clients import Served, served
from tests.deployment.deployment import Deployment
from tests.deployment.ready import ready
from tests.parts.database import Database
from tests.parts.ports import free_port
from tests.parts.postgres import Server
from tests.waiting import until

__all__ = ["served"]


def get(url: str, path: str, **headers: str) -> int:
    try:
        return httpx.get(f"{url}{path}", headers=headers, timeout=60).status_code
    except httpx.TransportError:
        return 0


@pytest.mark.parametrize("away", [0, pytest.param(65, marks=pytest.mark.slow)])
def test_a_restart_of_postgres_makes_requests_fail_for_a_while_only(
    own_postgres: Server, tmp_path: Path, away: int
) -> None:
    """Also where it takes longer than the pool goes on connecting by itself."""
    migrate.upgrade(own_postgres.url())
    port = free_port()
    settings = {"listen": {"port": port}, "access": {"anonymous": "reader"}, "health": {"port": None}}
    deployment = Deployment(Database("postgres", own_postgres.url()), tmp_path, {"signalbox": settings})
    url = f"http://127.0.0.1:{port}"
    program = deployment.program("signalbox")
    program.start()
    try:
        until(lambda: get(url, "/jobs") == 200)
        own_postgres.stop()
        until(lambda: not ready(url))
        assert get(url, "/jobs") == 503
        assert get(url, "/livez") == 200
        time.sleep(away)
        own_postgres.start()
        until(lambda: get(url, "/jobs") == 200, 90)
        assert program.running()
    finally:
        deployment.close()


def test_a_stop_ends_open_streams_within_the_grace_period(served: Served) -> None:
    with httpx.stream("GET", f"{served.url}/stream?path=/jobs", headers=served.headers, timeout=60) as stream:
        lines = stream.iter_lines()
        assert next(lines).startswith("retry:")
        began = time.monotonic()
        assert served.signalbox.stop() == 0
        assert time.monotonic() - began < 12
        list(lines)


def test_two_instances_answer_the_same_and_one_may_end(served: Served) -> None:
    other = free_port()
    served.environ["SWITCHYARD_SIGNALBOX__LISTEN__PORT"] = str(other)
    second = served.program("signalbox")
    second.start()
    url = f"http://127.0.0.1:{other}"
    until(lambda: ready(url))
    headers = {**served.headers, "Idempotency-Key": "once"}
    jobs = {
        httpx.post(
            f"{each}/processes/nutrient/execution", json={"inputs": {"scene": "a"}}, headers=headers
        ).json()["jobID"]
        for each in (served.url, url)
    }
    assert len(jobs) == 1
    assert served.signalbox.stop() == 0
    assert get(url, f"/jobs/{jobs.pop()}", **served.headers) == 200


RAW = {
    "smuggling": (400, b"POST /jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /livez HTTP/1.1\r\nHost: x\r\n\r\n"),
    "two lengths": (400, b"GET /livez HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"),
    "10,000 headers": (431, b"GET /livez HTTP/1.1\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(10_000)) + b"\r\n"),
    "long header": (431, b"GET /livez HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 1_000_000 + b"\r\n\r\n"),
    "endless header": (431, b"GET /livez HTTP/1.1\r\nHost: x\r\nX: " + b"y" * 5_000_000),
    "long address": (431, b"GET /" + b"y" * 1_000_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n"),
    "TLS": (400, b"\x16\x03\x01\x02\x00\x01"),
    "version": (400, b"GET / HTTP/9.9\r\n\r\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", RAW)
def test_requests_that_are_not_http_are_refused_and_affect_nobody_else(served: Served, name: str) -> None:
    status, request = RAW[name]
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as raw:
        raw.sendall(request)
        answer = b"".join(iter(lambda: raw.recv(65536), b""))
    head, _, content = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert json.loads(content)["status"] == status, "there is one answer, and it is a problem document"
    assert get(served.url, "/livez") == 200
    assert get(served.url, "/jobs", **served.headers) == 200


def test_trailers_without_end_end_the_connection(served: Served) -> None:
    head = b"POST /processes/nutrient/execution HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
    with socket.create_connection(("127.0.0.1", served.port), timeout=60) as raw:
        raw.sendall(head + b"Authorization: Bearer %s\r\n\r\n0\r\nX: " % served.token.encode())
        with suppress(ConnectionError):
            raw.sendall(b"y" * 5_000_000)
            while raw.recv(65536):
                continue
    assert get(served.url, "/jobs", **served.headers) == 200


def test_the_object_store_away_affects_results_only(database: Database, tmp_path: Path) -> None:
    port = free_port()
    settings = {"listen": {"port": port}, "access": {"anonymous": "admin"}, "health": {"port": None}}
    away = {
        "AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9",
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
    }
    database.execute("insert into switchyard.route values ('plain', 'run', null) returning 1")
    deployment = Deployment(database, tmp_path, {"store": "s3://nowhere/x", "signalbox": settings})
    deployment.environ.update(away, AWS_REGION="eu-west-2")
    url = f"http://127.0.0.1:{port}"
    deployment.program("signalbox").start()
    try:
        until(lambda: ready(url))
        job = httpx.post(f"{url}/processes/plain/execution", json={}).json()["jobID"]
        deployment.ledger.event(UUID(job), "SUCCESSFUL", 1)
        answer = httpx.get(f"{url}/jobs/{job}/results", timeout=60)
        assert answer.status_code == 503, answer.text
        assert answer.json()["detail"] == "the object store is not available now"
        page = httpx.get(f"{url}/jobs/{job}", headers={"Accept": "text/html"}, timeout=60)
        assert (page.status_code, "plain" in page.text) == (200, True)
        assert get(url, "/jobs") == 200
    finally:
        deployment.close()


def test_a_standby_still_answers_what_only_reads(own_postgres: Server, tmp_path: Path) -> None:
    migrate.upgrade(own_postgres.url())
    database, port = Database("postgres", own_postgres.url()), free_port()
    settings = {"listen": {"port": port}, "access": {"anonymous": "admin"}, "health": {"port": None}}
    database.execute("insert into switchyard.route values ('plain', 'run', null) returning 1")
    deployment = Deployment(database, tmp_path, {"signalbox": settings})
    url, signal = f"http://127.0.0.1:{port}", own_postgres.data / "standby.signal"
    deployment.program("signalbox").start()

    def submit() -> httpx.Response:
        return httpx.post(f"{url}/processes/plain/execution", json={}, timeout=60)

    try:
        until(lambda: get(url, "/jobs") == 200)
        job = submit().json()["jobID"]
        own_postgres.stop()
        signal.touch()
        own_postgres.start()
        until(lambda: get(url, f"/jobs/{job}") == 200, 90)
        refused = submit()
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "5")
        assert refused.json()["detail"] == "the database is read-only now: nothing can be changed"
        own_postgres.stop()
        signal.unlink()
        own_postgres.start()
        until(lambda: get(url, "/jobs") == 200, 90)
        until(lambda: submit().status_code == 201)
    finally:
        deployment.close()


def test_slow_bodies_hold_up_nobody_and_are_given_up(served: Served) -> None:
    """Fifty clients that send a byte and stop; everybody else is answered meanwhile."""
    head = b"POST /processes/nutrient/execution HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    head += f"Authorization: Bearer {served.token}\r\nContent-Length: 1000\r\n\r\n{{".encode()
    with ExitStack() as stack:
        slow = [
            stack.enter_context(socket.create_connection(("127.0.0.1", served.port), timeout=60))
            for _ in range(50)
        ]
        for each in slow:
            each.sendall(head)
        for _ in range(5):
            assert get(served.url, "/jobs", **served.headers) == 200
        assert b"408" in slow[0].recv(65536).partition(b"\r\n")[0]
    assert served.database.execute("select count(*) from switchyard.action") == [(0,)]


def test_a_token_made_by_the_command_works_until_it_is_revoked(served: Served) -> None:
    made = served.run(
        "switchyard", "token", "add", "ci", "--role", "reader", "-c", served.file
    ).stdout.strip()
    assert made.startswith("sb_")
    headers = {"Authorization": f"Bearer {made}"}
    assert get(served.url, "/jobs", **headers) == 200
    assert "ci" in served.run("switchyard", "token", "list", "-c", served.file).stdout
    done = served.run("switchyard", "token", "revoke", "ci", "--reason", "left", "-c", served.file)
    assert done.returncode == 0, done.stderr
    assert get(served.url, "/jobs", **headers) == 401
    assert hash_of(made) != hash_of(new_token())
