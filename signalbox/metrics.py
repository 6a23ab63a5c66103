"""The metrics of signalbox."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from starlette.types import Message, Scope, Send

from switchyard.process.metrics import Metrics


class SignalboxMetrics:
    """One set per process; labels are methods and status codes, which are few."""

    def __init__(self, made: Metrics) -> None:
        self.answers = made.counter("answers", "Responses sent", ["method", "status"])
        self.seconds = made.histogram("request_seconds", "Time from a request to the end of its response")

    @contextmanager
    def request(self, scope: Scope) -> Iterator[None]:
        """Measures one request."""
        began = time.monotonic()
        try:
            yield
        finally:
            if scope["type"] == "http" and not scope["path"].endswith("/stream"):
                self.seconds.observe(time.monotonic() - began)

    def counting(self, scope: Scope, send: Send) -> Send:
        """The same `send`, counting answers by status."""

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                method = scope["method"] if scope["method"] in METHODS else "other"
                self.answers.labels(method, str(message["status"])).inc()
            await send(message)

        return counted


METHODS = frozenset({"GET", "HEAD", "POST", "DELETE", "PUT", "PATCH", "OPTIONS"})
