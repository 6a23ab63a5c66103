"""The base of all HTTP handlers: send one request, draft its outcome, store its transcript.

The detail of an outcome has `status` (if there was an answer), `error`, `seconds`, and the location of the
transcript; breakers use the first two.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from switchyard.backends.http.answer import Answer, retry_after
from switchyard.backends.http.archive import Archive, Transcript
from switchyard.backends.http.fault import Fault
from switchyard.backends.http.outbound import OutboundAction
from switchyard.backends.http.redact import masked
from switchyard.backends.http.request import OutgoingRequest
from switchyard.backends.http.rules import ResponseOutcome
from switchyard.backends.http.send import Client
from switchyard.backends.http.settings import client_for
from switchyard.backends.http.transcript import transcript
from switchyard.handlers import Draft, Failed, Invalid, Outcome, Retry, Success, Work
from switchyard.store import Store

LONGEST_DELAY = 86_400.0  # a receiver cannot delay an action by more than a day
OVERTIME = 2.0  # seconds; a delivery ends by its own limit, with a transcript, before conductor's limit
_EXCERPT = 200


@dataclass(slots=True)
class Exchange:
    """One request and its result: an answer, or why there is none."""

    request: OutgoingRequest
    began: float
    seconds: float
    answer: Answer | None = None
    fault: Fault | None = None

    @property
    def unanswered(self) -> ResponseOutcome:
        """The outcome without an answer: invalid for an address that may not be called, else a retry."""
        return "invalid" if self.fault is not None and self.fault.refused else "retry"


class DeliveringHandler(ABC):
    """A handler whose `draft` sends requests; `start` reads the certificates."""

    overtime = OVERTIME

    def __init__(self, name: str, action: OutboundAction, store: Store) -> None:
        self.name = name
        self._action = action
        self._archive = Archive(store)
        self._client: Client | None = None

    async def start(self) -> None:
        """Open the session."""
        self._client = client_for(self._action)

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()

    async def dispatch(self, work: Work, /) -> Outcome:
        """Deliver the action once and store its transcript."""
        drafted = await self.draft(work)
        if not isinstance(drafted, Draft):
            return drafted
        await self.conclude([drafted])
        return drafted.outcome

    @abstractmethod
    async def draft(self, work: Work, /) -> Outcome | Draft:
        """Deliver the action once; its transcript is not stored yet."""

    async def conclude(self, drafts: Sequence[Draft], /) -> None:
        """Store the transcripts of drafts."""
        await self._archive.keep([draft.kept for draft in drafts])

    async def _send(self, request: OutgoingRequest) -> Exchange:
        """Send a request, once."""
        assert self._client is not None, "start() opens the session"
        exchange = Exchange(request, time.time(), time.perf_counter())
        try:
            exchange.answer = await self._client.send(request)
        except Fault as fault:
            exchange.fault = fault
        exchange.seconds = time.perf_counter() - exchange.seconds
        return exchange

    def _drafted(self, work: Work, exchange: Exchange, judged: ResponseOutcome) -> Draft:
        """The outcome, to be recorded once the transcript of the exchange is durable."""
        detail, error = _detail(exchange), None
        outcome: Outcome = Success(detail)
        if judged != "success":
            error = detail["error"] = masked(_error(exchange), exchange.request.derived)
            outcome = _unsuccessful(judged, exchange, error, detail)
        return Draft(outcome, Transcript(work, lambda: self._line(work, exchange, error), detail))

    def _line(self, work: Work, exchange: Exchange, error: str | None) -> bytes:
        return transcript(
            work,
            exchange.request,
            exchange.answer,
            error=error,
            began=exchange.began,
            seconds=exchange.seconds,
            cut=self._action.limits.kept_body,
        )


def invalid(refusal: ValueError) -> Invalid:
    """The outcome if no request could be built, so that nothing was sent."""
    error = masked(str(refusal))
    return Invalid(error, {"error": error})


def _unsuccessful(judged: ResponseOutcome, exchange: Exchange, error: str, detail: dict[str, Any]) -> Outcome:
    if judged == "retry":
        sent = exchange.fault is None or exchange.fault.sent
        return Retry(error, delay=_delay(exchange.answer), sent=sent, detail=detail)
    return Failed(error, detail) if judged == "failed" else Invalid(error, detail)


def _error(exchange: Exchange) -> str:
    answer = exchange.answer
    if answer is None:
        return str(exchange.fault)
    excerpt = " ".join(answer.text[: 4 * _EXCERPT].split())[:_EXCERPT]
    said = f"answered {answer.status} {answer.reason[:80]}".rstrip()
    return f"{said}: {excerpt}" if excerpt else said


def _detail(exchange: Exchange) -> dict[str, Any]:
    detail: dict[str, Any] = {"seconds": round(exchange.seconds, 6)}
    if exchange.answer is not None:
        detail["status"] = exchange.answer.status
        if exchange.answer.fault is not None:
            detail["answer"] = exchange.answer.fault
    return detail


def _delay(answer: Answer | None) -> float | None:
    value = None if answer is None else answer.headers.get("retry-after")
    delay = None if value is None else retry_after(value, datetime.now(UTC))
    return None if delay is None else min(delay, LONGEST_DELAY)
