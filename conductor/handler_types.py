"""Which handler serves which `type`: ours by name, a third party's by entry point."""

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from switchyard.errors import ConfigError
from switchyard.handlers import Handler, HandlerContext

GROUP = "switchyard.handlers"

BUILT_IN = {
    "argo": "switchyard.backends.argo.handler:ArgoHandler",
    "argo_resume": "switchyard.backends.argo.resume.handler:ArgoResumeHandler",
    "cirrus": "switchyard.backends.stepfunctions.handler:CirrusHandler",
    "cirrus_task": "switchyard.backends.stepfunctions.task:CirrusTaskHandler",
    "http": "switchyard.backends.http.handler:HttpHandler",
    "local": "switchyard.backends.local.handler:LocalHandler",
    "noop": "switchyard.backends.noop.handler:NoopHandler",
    "sqs": "switchyard.backends.sqs.handler:SqsHandler",
    "stac": "switchyard.backends.stac.handler:StacHandler",
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
