"""Redirects that are allowed: the body goes along, what was meant for the first host does not."""

from pathlib import Path

from switchyard.handlers import Invalid, Success
from tests.integration.backends.http.making import handler, kept, work
from tests.integration.backends.http.servers import CountingServer, counting

SECRETS = {"partner": "a-partner-token"}
HEADERS = {"Authorization": "Bearer {{ secrets.partner }}", "X-Plain": "plain"}


async def test_to_another_origin(tmp_path: Path) -> None:
    first = CountingServer(status=307)
    async with counting(first), counting() as second:
        first.headers = {"Location": second.url.replace("/hook", "/other?token=abc")}
        request = {"headers": HEADERS}
        async with handler(tmp_path, secrets=SECRETS, redirects=1, request=request) as made:
            outcome = await made.dispatch(work({"url": first.url}))
    assert isinstance(outcome, Success)
    [one], [two] = first.asked, second.asked
    assert one.headers["authorization"] == "Bearer a-partner-token"
    assert "authorization" not in two.headers
    assert two.headers["x-plain"] == "plain"
    assert (two.method, two.body) == ("POST", one.body)
    assert kept(tmp_path, outcome)["response"]["redirects"] == [second.url.replace("/hook", "/other?token=…")]


async def test_within_one_origin_everything_goes_along(tmp_path: Path) -> None:
    server = CountingServer(status=308, headers={"Location": "/next"})
    async with (
        counting(server),
        handler(tmp_path, secrets=SECRETS, redirects=2, request={"headers": HEADERS}) as made,
    ):
        await made.dispatch(work({"url": server.url}))
    assert [asked.path for asked in server.asked] == ["/hook", "/next", "/next"]
    assert all("authorization" in asked.headers for asked in server.asked)


async def test_security_l8_a_body_with_a_secret_stays_with_its_host(tmp_path: Path) -> None:
    first = CountingServer(status=307)
    async with counting(first), counting() as second:
        first.headers = {"Location": second.url}
        request = {"body": {"token": "{{ secrets.partner }}"}}
        async with handler(tmp_path, secrets=SECRETS, redirects=1, request=request) as made:
            outcome = await made.dispatch(work({"url": first.url}))
    assert isinstance(outcome, Invalid)
    assert "the redirect leads to another host, and the body holds a secret" in outcome.error
    assert second.asked == []
