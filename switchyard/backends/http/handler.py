"""The http handler: an action becomes one request, and its answer one outcome.

prepare -> send -> judge -> draft the outcome -> keep the transcript.
"""

import time
from collections.abc import Sequence

from switchyard.backends.http.delivery import OVERTIME, Delivery, invalid
from switchyard.backends.http.model import HttpAction
from switchyard.backends.http.request import RequestTemplate
from switchyard.backends.http.rules import compiled, outcome_of
from switchyard.backends.http.settings import authorization, secret_text, secret_texts
from switchyard.backends.http.sign import Signer
from switchyard.handlers import Draft, HandlerContext, Outcome, Work


class HttpHandler:
    """Delivers webhooks and calls APIs."""

    overtime = OVERTIME

    def __init__(self, name: str, action: HttpAction, context: HandlerContext) -> None:
        self.name = name
        self._rules = tuple(compiled(rule) for rule in action.responses)
        self._request = request_template(action, context)
        self._delivery = Delivery(action, context.store)

    async def start(self) -> None:
        """Open the session; certificates are read here."""
        await self._delivery.start()

    async def close(self) -> None:
        """Drop the connections."""
        await self._delivery.close()

    async def dispatch(self, work: Work, /) -> Outcome:
        """Deliver it once, and say what came of it."""
        return await self._delivery.concluded(await self.draft(work))

    async def conclude(self, drafts: Sequence[Draft], /) -> None:
        """Keep their transcripts."""
        await self._delivery.conclude(drafts)

    async def draft(self, work: Work, /) -> Outcome | Draft:
        """Deliver it once; its transcript is not kept yet."""
        try:
            request = self._request.prepare(work, time.time())
        except ValueError as refusal:
            return invalid(refusal)
        exchange = await self._delivery.send(request)
        if exchange.answer is None:
            return self._delivery.draft(work, exchange, exchange.unanswered)
        judged = await outcome_of(self._rules, exchange.answer, self.name)
        return self._delivery.draft(work, exchange, judged)


def request_template(action: HttpAction, context: HandlerContext) -> RequestTemplate:
    """The compiled request; ConfigError where it can never work."""
    written = action.request
    signing = () if written.sign is None else [secret_text(secret) for secret in written.sign.secrets]
    return RequestTemplate(
        method=written.method,
        url=written.url,
        headers=written.headers,
        body=written.body,
        secrets=secret_texts(context.secrets),
        authorization=authorization(action.auth),
        signer=Signer(signing) if signing else None,
        correlation_header=context.config.correlation_header,
        largest_body=action.limits.request_body,
        largest_headers=action.limits.headers,
    )
