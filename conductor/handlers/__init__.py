"""Which handler serves which `type`: ours by name, a third party's by entry point."""

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from conductor.handler import Handler, HandlerContext
from switchyard.errors import ConfigError

GROUP = "switchyard.handlers"

BUILT_IN = {
    "argo": "conductor.handlers.argo:ArgoHandler",
    "argo_resume": "conductor.handlers.argo_resume:ArgoResumeHandler",
    "cirrus": "conductor.handlers.cirrus:CirrusHandler",
    "cirrus_task": "conductor.handlers.cirrus_task:CirrusTaskHandler",
    "http": "conductor.handlers.http:HttpHandler",
    "local": "conductor.handlers.local:LocalHandler",
    "noop": "conductor.handlers.noop:NoopHandler",
    "sqs": "conductor.handlers.sqs:SqsHandler",
    "stac": "conductor.handlers.stac:StacHandler",
}

Factory = Callable[[str, Any, HandlerContext], Handler]


def factory(kind: str) -> Factory:
    """The factory registered for a type; ours cannot be displaced by a stranger's."""
    built_in = BUILT_IN.get(kind)
    if built_in is not None:
        module, _, name = built_in.partition(":")
        found: Factory = getattr(import_module(module), name)
        return found
    for entry in entry_points(group=GROUP, name=kind):
        loaded: Factory = entry.load()
        return loaded
    raise ConfigError(f"no handler is registered for the type {kind!r} (entry point group {GROUP!r})")


def build(name: str, action: Any, context: HandlerContext) -> Handler:
    """The handler of one action name, checked for the interface it must have."""
    handler = factory(action.type)(name, action, context)
    if not isinstance(handler, Handler):
        raise ConfigError(f"what is registered for the type {action.type!r} is no handler")
    return handler
