"""Which types of action there are: ours, and those that installed packages bring.

A package brings a type with an entry point of the group `switchyard.handlers`, named like the type. Where
what it points at has an attribute `config_model` (a subclass of Action), that is how the type is configured;
otherwise it takes what every action has, and `options`.
"""

from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pydantic import JsonValue

from switchyard.config.actions.argo import ArgoAction
from switchyard.config.actions.argo_resume import ArgoResumeAction
from switchyard.config.actions.base import Action
from switchyard.config.actions.cirrus import CirrusAction
from switchyard.config.actions.cirrus_task import CirrusTaskAction
from switchyard.config.actions.http import HttpAction
from switchyard.config.actions.local import LocalAction
from switchyard.config.actions.noop import NoopAction
from switchyard.config.actions.sqs import SqsAction
from switchyard.config.actions.stac import StacAction

GROUP = "switchyard.handlers"

BUILT_IN: Mapping[str, type[Action]] = {
    "http": HttpAction,
    "argo": ArgoAction,
    "cirrus": CirrusAction,
    "sqs": SqsAction,
    "local": LocalAction,
    "noop": NoopAction,
    "stac": StacAction,
    "argo_resume": ArgoResumeAction,
    "cirrus_task": CirrusTaskAction,
}


class PluginAction(Action):
    """A type from an installed package that brings no model of its own."""

    options: Mapping[str, JsonValue] = {}
    """Whatever the handler reads."""


@cache
def brought() -> Mapping[str, EntryPoint]:
    """The entry points of installed packages, by type."""
    return {point.name: point for point in entry_points(group=GROUP) if point.name not in BUILT_IN}


def type_names() -> tuple[str, ...]:
    """Every type that an action may have here."""
    return (*BUILT_IN, *sorted(brought()))


def model_of(name: str) -> type[Action] | None:
    """The model of a type, None where there is no such type; a ValueError where its package is broken."""
    if name in BUILT_IN:
        return BUILT_IN[name]
    point = brought().get(name)
    return None if point is None else _model_from(point)


def _model_from(point: EntryPoint) -> type[Action]:
    try:
        loaded: Any = point.load()
    except Exception as error:  # noqa: BLE001 - a package of others may fail in any way, and must not take us along
        raise ValueError(f"the package behind this type ({point.value}) fails to load: {error!r}") from None
    model = getattr(loaded, "config_model", None) or PluginAction
    if isinstance(model, type) and issubclass(model, Action):
        return model
    raise ValueError(f"the package behind this type ({point.value}) has a config_model that is no Action")
