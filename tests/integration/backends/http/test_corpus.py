"""Every hostile input has its one clear outcome; none gets through, and memory stays bounded."""

import re
import resource
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from switchyard.handlers import Outcome, Retry, Success
from tests.integration.backends.http.corpus import (
    answers,
    certificates,
    endless,
    names,
    redirects,
    requests,
    urls,
)
from tests.integration.backends.http.corpus.case import Case
from tests.integration.backends.http.making import LOOPBACK, handler, kept, work
from tests.integration.backends.http.servers import raw, says

CASES: list[Case] = [
    *urls.CASES,
    *requests.CASES,
    *answers.CASES,
    *endless.CASES,
    *redirects.CASES,
    *certificates.CASES,
]
MEMORY_MIB = 150  # beyond what the process had before; one case offers a gigabyte
OK = says(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


def test_the_corpus_has_at_least_150_inputs_each_with_its_own_name() -> None:
    everything = [str(case) for case in (*CASES, *names.CASES)]
    print(f"the corpus has {len(everything)} hostile inputs")  # seen with -rP
    assert len(everything) >= 150
    assert len(set(everything)) == len(everything)


def peak_mib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def told(outcome: Outcome) -> str:
    if isinstance(outcome, Success):
        return str(outcome.detail.get("answer", ""))
    assert outcome.detail["error"] == outcome.error  # type: ignore[union-attr]
    return outcome.error  # type: ignore[union-attr]


@pytest.mark.parametrize("case", CASES, ids=str)
async def test_hostile_input(case: Case, tmp_path: Path) -> None:
    before = peak_mib()
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(raw(case.speak or OK, case.tls() if case.tls else None))
        settings: dict[str, Any] = {"allow_networks": LOOPBACK, "timeout": "10s", **case.settings}
        made = await stack.enter_async_context(handler(tmp_path, secrets=case.secrets, **settings))
        url = case.url.replace("{port}", str(server.port))
        asked = work({"url": url, **case.parameters}, correlation_id=case.correlation_id)
        outcome = await made.dispatch(asked)
    assert isinstance(outcome, case.outcome), outcome
    assert re.search(case.error, told(outcome)), outcome
    assert len(told(outcome)) < 600
    if case.sent is not None:
        assert isinstance(outcome, Retry)
        assert outcome.sent is case.sent
        assert case.sent or server.requests == 0
    assert case.reached or server.connections == 0
    assert server.requests <= 1 + settings.get("redirects", 0), "sent more than once"
    if case.check is not None:
        case.check(outcome)
    if "transcript" in outcome.detail:
        assert kept(tmp_path, outcome)["action_uuid"] == str(asked.uuid)
    assert peak_mib() - before < MEMORY_MIB


@pytest.mark.parametrize("case", names.CASES, ids=str)
async def test_hostile_name(case: names.NameCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []

    def lookup(host: str, port: int, *_rest: Any) -> list[Any]:
        calls.append(host)
        answer = case.answers[min(len(calls), len(case.answers)) - 1]
        return [(10 if ":" in number else 2, 1, 6, "", (number, port)) for number in answer]

    monkeypatch.setattr("switchyard.backends.http.resolver.socket.getaddrinfo", lookup)
    settings: dict[str, Any] = {"allow_networks": [], **case.settings}
    async with handler(tmp_path, **settings) as made:
        outcome = await made.dispatch(work({"url": f"http://{case.host}/hook"}))
    assert isinstance(outcome, case.outcome), outcome
    assert re.search(case.error, told(outcome)), outcome
    assert calls == [case.host]
