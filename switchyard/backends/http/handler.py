"""The http handler: sends one request per action, and its answer determines the outcome.

prepare -> send -> judge -> draft the outcome -> store the transcript.
"""

import time

from switchyard.backends.http.delivery import DeliveringHandler, invalid
from switchyard.backends.http.model import HttpAction
from switchyard.backends.http.request import RequestTemplate
from switchyard.backends.http.rules import compiled, outcome_of
from switchyard.backends.http.settings import authorization, secret_text, secret_texts
from switchyard.backends.http.sign import Signer
from switchyard.handlers import Draft, HandlerContext, Outcome, Work


class HttpHandler(DeliveringHandler):
    """Delivers webhooks and calls APIs."""

    def __init__(self, name: str, action: HttpAction, context: HandlerContext) -> None:
        super().__init__(name, action, context.store)
        self._rules = tuple(compiled(rule) for rule in action.responses)
        self._request = request_template(action, context)

    async def draft(self, work: Work, /) -> Outcome | Draft:
        """Deliver the action once; its transcript is not stored yet."""
        try:
            request = self._request.prepare(work, time.time())
        except ValueError as refusal:
            return invalid(refusal)
        exchange = await self._send(request)
        if exchange.answer is None:
            return self._drafted(work, exchange, exchange.unanswered)
        judged = await outcome_of(self._rules, exchange.answer, self.name)
        return self._drafted(work, exchange, judged)


def request_template(action: HttpAction, context: HandlerContext) -> RequestTemplate:
    """The compiled request; ConfigError if it can never work."""
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
