"""Registers `local`: one source per spool."""

from collections.abc import Iterator, Mapping
from typing import Any

from switchyard.backends.local.model import LocalAction
from switchyard.backends.plugin import Backend, SourceContext, by_place
from switchyard.handlers import Handler, HandlerContext
from switchyard.sources import ServedSource


def _handler(name: str, action: Any, context: HandlerContext) -> Handler:
    from switchyard.backends.local.handler import LocalHandler

    return LocalHandler(name, action, context)


def _sources(actions: Mapping[str, LocalAction], context: SourceContext) -> Iterator[ServedSource]:
    from switchyard.backends.local.source import LocalSource

    for action, names in by_place(actions, lambda each: each.spool):
        yield ServedSource(LocalSource(action, context.shard), names)


local = Backend("local", _handler, LocalAction, _sources)
