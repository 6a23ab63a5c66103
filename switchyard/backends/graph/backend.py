"""Registers `graph`."""

from typing import Any

from switchyard.backends.graph.model import GraphAction
from switchyard.backends.plugin import Backend
from switchyard.handlers import Handler, HandlerContext


def _handler(name: str, action: Any, context: HandlerContext) -> Handler:
    from switchyard.backends.graph.handler import GraphHandler

    return GraphHandler(name, action, context)


graph = Backend("graph", _handler, GraphAction)
