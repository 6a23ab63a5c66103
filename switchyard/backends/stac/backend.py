"""Registers `stac`."""

from typing import Any

from switchyard.backends.plugin import Backend
from switchyard.backends.stac.model import StacAction
from switchyard.handlers import Handler, HandlerContext


def _handler(name: str, action: Any, context: HandlerContext) -> Handler:
    from switchyard.backends.stac.handler import StacHandler

    return StacHandler(name, action, context)


stac = Backend("stac", _handler, StacAction)
