"""Who may do what: every route for every role, and the database behind the routes."""

import json
import re
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

import signalbox.app  # noqa: F401 - declares the endpoints
from signalbox.access.failures import MOST, FailedLogins
from signalbox.access.roles import Role
from signalbox.endpoint import ENDPOINTS, Endpoint
from tests.integration.signalbox.conftest import Connect, Jobs, Token
from tests.parts.database import Database

CLOSED: dict[str, Any] = {"access": {}}
READS = {
    "landing", "conformance", "processes", "process", "jobs", "job", "results", "result", "features", "job_files", "job_file",
    "log", "stream", "events", "family", "graph", "inputs", "prov", "usual", "why", "archive",
}  # fmt: skip
OPEN = {"api", "livez", "readyz", "login", "login_page", "logout"}
SUBMITS = {"execute", "dismiss", "again"}
ADMINISTERS = {"trigger_schedule", "pause_schedule", "resume_schedule", "confirm_schedule"}


def expected(endpoint: Endpoint, role: str | None) -> bool:
    """The table of who may call what, apart from the declarations that are tested by it."""
    if endpoint.name in OPEN:
        return True
    if role is None:
        return False
    if endpoint.name in ADMINISTERS | SUBMITS:
        return role == "admin" or (endpoint.name in SUBMITS and role in ("submitter", "operator"))
    if endpoint.name in READS:
        return True
    if endpoint.method == "GET" and not endpoint.name.startswith("confirm"):
        return role in ("reader", "operator", "admin")
    return role in ("operator", "admin")


@pytest.mark.parametrize("role", [None, "reader", "submitter", "operator", "admin"])
async def test_every_route_for_every_role(connect: Connect, token: Token, role: str | None) -> None:
    client = await connect(**CLOSED)
    headers = {} if role is None else token(role)
    for endpoint in ENDPOINTS:
        path = re.sub(r"\{(job|action)\}", "00000000-0000-7000-8000-000000000000", endpoint.path)
        path = re.sub(r"\{entry\}", "1", path)
        path = re.sub(r"\{[\w:]+\}", "x", path)
        path = f"{path}?path=/nowhere" if endpoint.name == "stream" else path  # one that is open never ends
        answer = await client.request(endpoint.method, path, headers=headers, json={})
        refused = answer.status_code == (401 if role is None else 403)
        if endpoint.name == "login":
            assert answer.status_code == 422
        else:
            assert refused is not expected(endpoint, role), (
                endpoint.method,
                endpoint.path,
                answer.status_code,
            )
        assert answer.status_code < 500, (endpoint.path, answer.text)


CHANGES = [
    ("POST", "/queues/run/pause", {"reason": "x"}),
    ("POST", "/queues/run/resume", {"reason": "x"}),
    ("POST", "/jobs/{job}/retrigger", {"reason": "x"}),
    ("POST", "/jobs/{job}/cancel", {"reason": "x"}),
    ("POST", "/actions/{job}/dismiss", {"reason": "x"}),
    ("POST", "/inbox/1/dismiss", {"reason": "x"}),
    ("POST", "/jobs:cancel", {"filter": {"name": "run"}, "expected": 1, "reason": "x"}),
    ("GET", "/queues", None),
    ("GET", "/inbox", None),
    ("GET", "/workers", None),
    ("GET", "/journal", None),
    ("GET", "/actions", None),
]


FORGOTTEN = [
    (role, *each)
    for role in ("submitter", "reader")
    for each in CHANGES
    if role == "submitter" or each[0] != "GET"
]


@pytest.mark.parametrize(("role", "method", "path", "body"), FORGOTTEN)
async def test_the_database_refuses_what_a_route_does_not_check(
    connect: Connect,
    token: Token,
    jobs: Jobs,
    monkeypatch: pytest.MonkeyPatch,
    role: str,
    method: str,
    path: str,
    body: Any,
) -> None:
    """With the routes' own check removed."""
    monkeypatch.setattr(Endpoint, "open_to", lambda *_: True)
    client = await connect(**CLOSED)
    headers = token(role)
    job = jobs.submit()
    if role == "submitter" and "{job}" in path:
        job = (await client.post("/processes/plain/execution", json={}, headers=headers)).json()["jobID"]
    answer = await client.request(method, path.replace("{job}", job), json=body, headers=headers)
    assert answer.status_code == 403, answer.text
    assert jobs.database.execute("select count(*) from switchyard.paused") == [(0,)]
    assert jobs.database.execute("select count(*) from switchyard.yard where run > 1") == [(0,)]


async def test_a_reader_cannot_submit_even_without_the_routes_check(
    connect: Connect, token: Token, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Endpoint, "open_to", lambda *_: True)
    client = await connect(**CLOSED)
    answer = await client.post("/processes/plain/execution", json={}, headers=token("reader"))
    assert answer.status_code == 403
    assert jobs.database.execute("select count(*) from switchyard.action") == [(0,)]


async def test_a_submitter_sees_and_ends_its_own_jobs_only(
    connect: Connect, token: Token, jobs: Jobs
) -> None:
    client = await connect(**CLOSED)
    ann, bob = token("submitter", "ann"), token("submitter", "bob")
    job = (await client.post("/processes/plain/execution", json={}, headers=ann)).json()["jobID"]
    other = jobs.submit()
    assert [each["jobID"] for each in (await client.get("/jobs", headers=ann)).json()["jobs"]] == [job]
    assert (await client.get("/jobs", headers=bob)).json()["jobs"] == []
    for path in ("", "/why", "/events", "/family", "/inputs", "/results", "/prov", "/log", "/files"):
        assert (await client.get(f"/jobs/{job}{path}", headers=bob)).status_code == 404
        assert (await client.get(f"/jobs/{other}{path}", headers=ann)).status_code == 404
    assert (await client.delete(f"/jobs/{job}", headers=bob)).status_code == 404
    assert (await client.get(f"/jobs/{job}", headers=token("reader"))).json()["switchyard"][
        "submitted_by"
    ] == "token:ann"
    assert (await client.delete(f"/jobs/{job}", headers=ann)).json()["status"] == "dismissed"


async def test_two_callers_may_use_the_same_idempotency_key(
    connect: Connect, token: Token, jobs: Jobs
) -> None:
    client = await connect(**CLOSED)
    ids = set()
    for name in ("ann", "bob"):
        headers = {**token("submitter", name), "Idempotency-Key": "1"}
        ids.add((await client.post("/processes/plain/execution", json={}, headers=headers)).json()["jobID"])
    assert len(ids) == 2


async def test_every_change_is_recorded_with_its_caller(connect: Connect, token: Token, jobs: Jobs) -> None:
    client = await connect(**CLOSED)
    operator = token("operator", "olga")
    job = jobs.submit()
    await client.post(f"/jobs/{job}/cancel", json={"reason": "wrong scene"}, headers=operator)
    await client.post("/queues/run/pause", json={"reason": "maintenance"}, headers=operator)
    assert jobs.database.execute(
        "select detail ->> 'actor', detail ->> 'reason' from switchyard.event where status = 'CANCELED'"
    ) == [("token:olga", "wrong scene")]
    assert ("token:olga", "maintenance") in jobs.database.execute(
        "select actor, reason from switchyard.journal"
    )


async def test_tokens_that_are_expired_revoked_or_made_up_are_refused(
    connect: Connect, token: Token, database: Database
) -> None:
    client = await connect(**CLOSED)
    good, expired, revoked = token("reader"), token("reader", "old", "2020-01-01Z"), token("reader", "gone")
    database.execute("select switchyard.revoke_token('gone', 'me', 'left')")
    assert (await client.get("/jobs", headers=good)).status_code == 200
    made_up = {"Authorization": "Bearer sb_" + "A" * 43}
    for headers in (expired, revoked, made_up, {"Authorization": "Basic YTpi"}, {"Authorization": "Bearer "}):
        answer = await client.get("/jobs", headers=headers)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="switchyard"')
    assert database.execute("select name from switchyard.token where last_used_at is not null") == [
        ("reader",)
    ]
    stored = database.execute("select to_jsonb(t)::text from switchyard.token t")
    assert not any(good["Authorization"].removeprefix("Bearer ") in text for (text,) in stored)


async def test_failed_logins_are_limited(connect: Connect, token: Token) -> None:
    client = await connect(**CLOSED)
    good = token("reader")
    for _ in range(MOST):
        assert (await client.post("/login", data={"token": "sb_wrong"})).status_code == 401
    answer = await client.get("/jobs", headers=good)
    assert answer.status_code == 429
    assert 0 < int(answer.headers["retry-after"]) <= 61


def test_failures_are_forgotten_after_a_minute() -> None:
    now = [0.0]
    failures = FailedLogins(lambda: now[0])
    for _ in range(MOST):
        failures.failed("10.0.0.1")
    assert failures.blocked("10.0.0.1") == 60
    assert failures.blocked("10.0.0.2") == 0
    now[0] = 61
    assert failures.blocked("10.0.0.1") == 0


async def test_a_login_sets_a_cookie_that_other_sites_cannot_use(
    connect: Connect, token: Token, jobs: Jobs
) -> None:
    client = await connect(**CLOSED)
    made = token("operator")["Authorization"].removeprefix("Bearer ")
    answer = await client.post("/login", data={"token": made})
    cookie = answer.headers["set-cookie"].lower()
    assert answer.status_code == 303
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert (await client.get("/queues")).status_code == 200
    body = {"reason": "x"}
    for headers in (
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
    ):
        assert (await client.post("/queues/run/pause", data=body, headers=headers)).status_code == 403
    for headers in ({"Sec-Fetch-Site": "same-origin"}, {"Origin": "http://127.0.0.1"}):
        assert (await client.post("/queues/run/pause", data=body, headers=headers)).status_code == 303
    await client.post("/logout")
    assert (await client.get("/queues")).status_code == 401


async def test_anonymous_access_is_protected_from_other_sites_too(client: httpx.AsyncClient) -> None:
    answer = await client.post(
        "/queues/run/pause", json={"reason": "x"}, headers={"Origin": "https://evil.example"}
    )
    assert answer.status_code == 403


async def test_a_proxys_headers_are_believed_from_its_network_only(connect: Connect, jobs: Jobs) -> None:
    named = {"X-Forwarded-User": "ann", "X-Forwarded-Groups": "staff, ops"}
    proxy = {"networks": ["127.0.0.0/8"], "roles": {"ops": "operator"}}
    client = await connect(access={"proxy": proxy})
    assert (await client.get("/jobs", headers=named)).status_code == 200
    job = (await client.post("/processes/plain/execution", json={}, headers=named)).json()
    assert job["switchyard"]["submitted_by"] == "proxy:ann"
    assert (await client.get("/jobs", headers={"X-Forwarded-User": "ann"})).status_code == 401
    elsewhere = await connect(access={"proxy": {**proxy, "networks": ["10.0.0.0/8"]}})
    assert (await elsewhere.get("/jobs", headers=named)).status_code == 401


class Issuer:
    """An issuer on loopback: its published keys, and tokens signed with any of them."""

    def __init__(self) -> None:
        self.keys: dict[str, ec.EllipticCurvePrivateKey] = {}
        self.fetched = 0
        self.rotate("one")
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.fetched += 1
                self.send_response(200)
                self.end_headers()
                self.wfile.write(json.dumps(issuer.document()).encode())

            def log_message(self, *_: Any) -> None:
                return

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def rotate(self, name: str) -> None:
        self.keys[name] = ec.generate_private_key(ec.SECP256R1())

    def document(self) -> Any:
        return {"keys": self.published()}

    def published(self) -> list[dict[str, Any]]:
        made = [
            (name, jwt.algorithms.ECAlgorithm.to_jwk(key.public_key(), as_dict=True))
            for name, key in self.keys.items()
        ]
        return [{**jwk, "kid": name, "use": "sig", "alg": "ES256"} for name, jwk in made]

    def token(self, key: str = "one", **claims: Any) -> dict[str, str]:
        content = {"iss": "https://issuer.example", "aud": "switchyard", "sub": "ann", "roles": ["ops"],
                   "exp": datetime.now(UTC) + timedelta(minutes=5), **claims}  # fmt: skip
        known = self.keys.get(key) or ec.generate_private_key(ec.SECP256R1())
        return {"Authorization": f"Bearer {jwt.encode(content, known, 'ES256', headers={'kid': key})}"}


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    issuer = Issuer()
    yield issuer
    issuer.server.shutdown()
    issuer.server.server_close()


@pytest.fixture
async def trusting(connect: Connect, issuer: Issuer, monkeypatch: pytest.MonkeyPatch) -> httpx.AsyncClient:
    """A client of a site that accepts JWTs of the issuer, and reads its keys again at once."""
    monkeypatch.setattr("signalbox.access.jwt.AGAIN", 0.0)
    settings = {"issuer": "https://issuer.example", "audience": "switchyard", "roles": {"ops": "operator"},
                "jwks": f"http://127.0.0.1:{issuer.server.server_port}/keys"}  # fmt: skip
    return await connect(access={"jwt": settings})


async def test_jwts_of_the_issuer_are_accepted_also_after_a_rotation(
    trusting: httpx.AsyncClient, issuer: Issuer
) -> None:
    assert (await trusting.get("/queues", headers=issuer.token())).status_code == 200
    issuer.rotate("two")
    assert (await trusting.get("/queues", headers=issuer.token("two"))).status_code == 200
    before = issuer.fetched
    assert (await trusting.get("/queues", headers=issuer.token("two"))).status_code == 200
    assert issuer.fetched == before
    past = datetime.now(UTC) - timedelta(hours=1)
    unsigned = jwt.encode({"sub": "ann", "roles": ["ops"]}, "", "none", headers={"kid": "one"})
    for headers in (
        issuer.token("unknown"), issuer.token(iss="https://evil.example"), issuer.token(aud="other"), issuer.token(exp=past),
        issuer.token(roles=["guests"]), issuer.token(sub=7), issuer.token(sub="\ud800"), issuer.token(sub="a\0b"), {"Authorization": f"Bearer {unsigned}"}, {"Authorization": "Bearer x.y.z"},
    ):  # fmt: skip
        assert (await trusting.get("/queues", headers=headers)).status_code == 401


@pytest.mark.parametrize("document", [[], "x", None, {"keys": 5}, {"keys": [1]}])
async def test_keys_that_cannot_be_read_leave_those_that_are_known(
    trusting: httpx.AsyncClient, issuer: Issuer, monkeypatch: pytest.MonkeyPatch, document: Any
) -> None:
    assert (await trusting.get("/queues", headers=issuer.token())).status_code == 200
    monkeypatch.setattr(issuer, "document", lambda: document)
    before = issuer.fetched
    assert (await trusting.get("/queues", headers=issuer.token("unknown"))).status_code == 401
    assert issuer.fetched == before + 1
    assert (await trusting.get("/queues", headers=issuer.token())).status_code == 200


def test_a_role_includes_what_it_must() -> None:
    from signalbox.access.roles import Caller

    assert not Caller("x", Role.SUBMITTER).may("reader")
    assert not Caller("x", Role.READER).may("submitter")
    assert Caller("x", Role.ADMIN).may("operator")
