"""Registers `python`."""

from typing import Any

from switchyard.backends.plugin import Backend
from switchyard.backends.python.model import PythonAction
from switchyard.handlers import Handler, HandlerContext


def _handler(name: str, action: Any, context: HandlerContext) -> Handler:
    from switchyard.backends.python.handler import PythonHandler

    return PythonHandler(name, action, context)


python = Backend("python", _handler, PythonAction)
