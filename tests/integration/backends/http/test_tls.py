"""TLS that should work: a trusted server, a client certificate, a bearer token; and bad files refused early."""

from pathlib import Path

import pytest

from switchyard.errors import ConfigError
from switchyard.handlers import Retry, Success
from tests.integration.backends.http.certificates import file_of, other, serving, trusted
from tests.integration.backends.http.making import handler, work
from tests.integration.backends.http.servers import counting


async def test_a_trusted_server_is_reached_with_a_bearer_token(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PARTNER_TOKEN", "bearer-token-value")
    ca = str(file_of(trusted().pem, "trusted.pem"))
    tls, auth = {"ca": ca}, {"bearer": "env:PARTNER_TOKEN"}
    async with (
        counting(tls=serving(trusted().issue("127.0.0.1"))) as server,
        handler(tmp_path, tls=tls, auth=auth) as made,
    ):
        assert isinstance(await made.dispatch(work({"url": server.url})), Success)
    assert server.asked[0].headers["authorization"] == "Bearer bearer-token-value"


@pytest.mark.parametrize("known", [True, False])
async def test_mutual_tls(known: bool, tmp_path: Path) -> None:
    certificate, key = (trusted() if known else other()).issue("client.example")
    ca = str(file_of(trusted().pem, "trusted.pem"))
    tls = {
        "ca": ca,
        "certificate": f"file:{file_of(certificate, f'client-{known}.pem')}",
        "key": f"file:{file_of(key, f'client-{known}.key')}",
    }
    serves = serving(trusted().issue("127.0.0.1"), clients=trusted())
    async with counting(tls=serves) as server, handler(tmp_path, tls=tls) as made:
        outcome = await made.dispatch(work({"url": server.url}))
    assert isinstance(outcome, Success if known else Retry), outcome
    assert len(server.asked) == known
    assert key.splitlines()[1] not in str(outcome)


async def test_a_server_that_answers_in_plain_text_is_reported_as_such(tmp_path: Path) -> None:
    tls = {"ca": str(file_of(trusted().pem, "trusted.pem"))}
    async with counting() as server, handler(tmp_path, tls=tls) as made:
        outcome = await made.dispatch(work({"url": server.url.replace("http:", "https:")}))
    assert isinstance(outcome, Retry)
    assert not outcome.sent
    assert "the TLS handshake failed: " in outcome.error


async def test_a_key_that_does_not_fit_is_refused_at_the_start_unseen(tmp_path: Path) -> None:
    certificate, _ = trusted().issue("client.example")
    _, key = trusted().issue("client.example")
    tls = {"certificate": f"file:{file_of(certificate, 'a.pem')}", "key": f"file:{file_of(key, 'b.key')}"}
    with pytest.raises(ConfigError) as error:
        async with handler(tmp_path, tls=tls):
            pass
    assert key.splitlines()[1] not in str(error.value)
    assert "TLS settings" in str(error.value)


async def test_an_authority_file_that_is_invalid(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="TLS settings"):
        async with handler(tmp_path, tls={"ca": str(file_of("no certificate", "none.pem"))}):
            pass
    with pytest.raises(ConfigError, match="cannot be read"):
        async with handler(tmp_path, tls={"ca": str(tmp_path / "absent.pem")}):
            pass
