"""Registers `sqs`: one source per status queue."""

from collections.abc import Iterator, Mapping
from typing import Any

from switchyard.backends.plugin import Backend, SourceContext, by_place
from switchyard.backends.sqs.model import SqsAction
from switchyard.handlers import Handler, HandlerContext
from switchyard.sources import ServedSource


def _handler(name: str, action: Any, context: HandlerContext) -> Handler:
    from switchyard.backends.sqs.handler import SqsHandler

    return SqsHandler(name, action, context)


def _sources(actions: Mapping[str, SqsAction], context: SourceContext) -> Iterator[ServedSource]:
    from switchyard.backends.sqs.source import SqsSource

    for action, names in by_place(actions, lambda each: (each.endpoint, each.region, each.status_queue)):
        yield ServedSource(SqsSource(action, context.store), names)


sqs = Backend("sqs", _handler, SqsAction, _sources)
