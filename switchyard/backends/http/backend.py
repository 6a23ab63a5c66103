"""Registers `http`."""

from typing import Any

from switchyard.backends.http.model import HttpAction
from switchyard.backends.plugin import Backend
from switchyard.handlers import Handler, HandlerContext


def _handler(name: str, action: Any, context: HandlerContext) -> Handler:
    from switchyard.backends.http.handler import HttpHandler

    return HttpHandler(name, action, context)


http = Backend("http", _handler, HttpAction)
