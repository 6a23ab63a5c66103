"""A name is looked up once a connection, and the connection goes to what was vetted, whatever it says later."""

from pathlib import Path
from typing import Any

import pytest

from switchyard.backends.http.address import AddressPolicy
from switchyard.backends.http.resolver import VettedResolver
from switchyard.handlers import Invalid, Success
from tests.integration.backends.http.making import handler, work
from tests.integration.backends.http.servers import counting


class Lookup:
    """The system's resolver, replaced by a table: no name server here answers for these names."""

    def __init__(self, *answers: str) -> None:
        self.answers = list(answers)
        self.calls = 0

    def __call__(self, _host: str, port: int, *_rest: Any) -> list[Any]:
        number = self.answers[min(self.calls, len(self.answers) - 1)]
        self.calls += 1
        return [(2, 1, 6, "", (number, port))]


def patched(monkeypatch: pytest.MonkeyPatch, *answers: str) -> Lookup:
    lookup = Lookup(*answers)
    monkeypatch.setattr("switchyard.backends.http.resolver.socket.getaddrinfo", lookup)
    return lookup


async def test_rebinding_between_the_check_and_the_connection_is_impossible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with counting() as server, handler(tmp_path, allow_networks=["127.0.0.1/32"]) as made:
        lookup = patched(monkeypatch, "127.0.0.1", "169.254.169.254")
        url = server.url.replace("127.0.0.1", "hooks.example")
        assert isinstance(await made.dispatch(work({"url": url})), Success)
        assert lookup.calls == 1
    assert len(server.asked) == 1
    assert server.asked[0].headers["host"].startswith("hooks.example:")


async def test_an_answer_that_changed_is_checked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("switchyard.backends.http.send.CACHE_SECONDS", 0)
    settings: dict[str, Any] = {"allow_networks": ["127.0.0.1/32"], "delivery": "at_most_once"}
    async with counting() as server, handler(tmp_path, **settings) as made:
        lookup = patched(monkeypatch, "127.0.0.1", "169.254.169.254")
        url = server.url.replace("127.0.0.1", "hooks.example")
        assert isinstance(await made.dispatch(work({"url": url})), Success)
        second = await made.dispatch(work({"url": url}))
    assert isinstance(second, Invalid)
    assert "link-local" in second.error
    assert lookup.calls == 2
    assert len(server.asked) == 1


async def test_an_allowed_host_may_be_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings: dict[str, Any] = {"allow_networks": [], "allow_hosts": ["*.svc.example"]}
    async with counting() as server, handler(tmp_path, **settings) as made:
        patched(monkeypatch, "127.0.0.1")
        url = server.url.replace("127.0.0.1", "hooks.svc.example")
        assert isinstance(await made.dispatch(work({"url": url})), Success)
        other = await made.dispatch(work({"url": server.url}))
    assert isinstance(other, Invalid)


async def test_no_socket_for_an_address_that_was_not_vetted() -> None:
    resolver = VettedResolver(AddressPolicy())
    with pytest.raises(PermissionError):
        resolver.socket_for((2, 1, 6, "", ("127.0.0.1", 80)))
    await resolver.close()
