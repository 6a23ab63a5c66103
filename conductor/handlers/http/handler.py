"""The http handler: an action becomes one request, and its answer one outcome.

prepare -> send -> judge -> keep the transcript -> outcome. An outcome's detail has `status` (where there was
an answer), `error`, `seconds`, and where the transcript is; breakers look at the first two.
"""

import asyncio
import time
from datetime import UTC, datetime
from typing import Any

from conductor.handler import HandlerContext, Work
from conductor.handlers.http.answer import Answer
from conductor.handlers.http.archive import Archive
from conductor.handlers.http.client import Client
from conductor.handlers.http.fault import Fault
from conductor.handlers.http.redact import masked
from conductor.handlers.http.request import RequestTemplate
from conductor.handlers.http.rules import Rule, Verdict, compiled, verdict
from conductor.handlers.http.settings import authorization, client_for, secret_text, secret_texts
from conductor.handlers.http.sign import Signer
from conductor.handlers.http.transcript import transcript
from conductor.retry_after import retry_after
from switchyard.config.actions.http import HttpAction
from switchyard.outcome import Failed, Invalid, Outcome, Retry, Success

LONGEST_DELAY = 86_400.0  # nobody may park an action for longer than a day
LONG_BODY = 32 * 1024  # expressions over more than this are looked at beside the loop
_EXCERPT = 200


class HttpHandler:
    """Delivers webhooks and calls APIs."""

    def __init__(self, name: str, action: HttpAction, context: HandlerContext) -> None:
        self._name, self._action = name, action
        self._rules: tuple[Rule, ...] = tuple(compiled(rule) for rule in action.responses)
        self._reads_body = any(rule.reads_body for rule in self._rules)
        self._request = request_template(action, context)
        self._archive = Archive(context.store)
        self._client: Client | None = None

    async def start(self) -> None:
        """Open the session; certificates are read here."""
        self._client = client_for(self._action)

    async def close(self) -> None:
        """Finish what is being written, drop the connections."""
        await self._archive.close()
        if self._client is not None:
            await self._client.close()

    async def dispatch(self, work: Work, /) -> Outcome:
        """Deliver it once, and say what came of it."""
        assert self._client is not None, "start() opens the session"
        began, clock = time.time(), time.perf_counter()
        try:
            request = self._request.prepare(work, began)
        except ValueError as refusal:
            return _outcome("invalid", masked(str(refusal)), {})
        answer: Answer | None = None
        fault: Fault | None = None
        try:
            answer = await self._client.send(request)
            judged = await self._judged(answer)
        except Fault as caught:
            fault, judged = caught, "invalid" if caught.refused else "retry"
        seconds = time.perf_counter() - clock
        error = None if judged == "success" else masked(_error(answer, fault), request.derived)
        line = transcript(
            work,
            request,
            answer,
            error=error,
            began=began,
            seconds=seconds,
            cut=self._action.limits.kept_body,
        )
        detail = _detail(answer, seconds) | await self._archive.keep(work, line)
        return _outcome(judged, error or "", detail, sent=fault is None or fault.sent, delay=_delay(answer))

    async def _judged(self, answer: Answer) -> Verdict:
        if self._reads_body and len(answer.body) > LONG_BODY:
            return await asyncio.to_thread(verdict, self._rules, answer)
        return verdict(self._rules, answer)


def request_template(action: HttpAction, context: HandlerContext) -> RequestTemplate:
    """The compiled request; ConfigError where it can never work."""
    written = action.request
    secrets = secret_texts(context.secrets)
    signing = () if written.sign is None else [secret_text(secret) for secret in written.sign.secrets]
    return RequestTemplate(
        method=written.method,
        url=written.url,
        headers=written.headers,
        body=written.body,
        authorization=authorization(action.auth),
        secrets=secrets,
        signer=Signer(signing) if signing else None,
        correlation_header=context.config.correlation_header,
        largest_body=action.limits.request_body,
        largest_headers=action.limits.headers,
    )


def _error(answer: Answer | None, fault: Fault | None) -> str:
    if answer is None:
        return str(fault)
    excerpt = " ".join(answer.text[: 4 * _EXCERPT].split())[:_EXCERPT]
    said = f"answered {answer.status} {answer.reason[:80]}".rstrip()
    return f"{said}: {excerpt}" if excerpt else said


def _detail(answer: Answer | None, seconds: float) -> dict[str, Any]:
    detail: dict[str, Any] = {"seconds": round(seconds, 6)}
    if answer is not None:
        detail["status"] = answer.status
        if answer.fault is not None:
            detail["answer"] = answer.fault
    return detail


def _delay(answer: Answer | None) -> float | None:
    value = None if answer is None else answer.headers.get("retry-after")
    delay = None if value is None else retry_after(value, datetime.now(UTC))
    return None if delay is None else min(delay, LONGEST_DELAY)


def _outcome(
    judged: Verdict, error: str, detail: dict[str, Any], *, sent: bool = False, delay: float | None = None
) -> Outcome:
    if judged == "success":
        return Success(detail)
    detail["error"] = error
    if judged == "retry":
        return Retry(error, delay=delay, sent=sent, detail=detail)
    return Failed(error, detail) if judged == "failed" else Invalid(error, detail)
