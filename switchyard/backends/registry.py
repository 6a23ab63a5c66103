"""Which types of action there are: ours, and those that installed packages bring.

A package brings a type with an entry point of the group `switchyard.handlers`, named like the type. Where
what it points at has an attribute `config_model` (a subclass of Action), that is how the type is configured;
otherwise it takes what every action has, and `options`.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from pydantic import JsonValue

from switchyard.config.action import Action

GROUP = "switchyard.handlers"

BUILT_IN: Mapping[str, str] = {
    "http": "http.model:HttpAction",
    "argo": "argo.model:ArgoAction",
    "cirrus": "stepfunctions.model:CirrusAction",
    "sqs": "sqs.model:SqsAction",
    "local": "local.model:LocalAction",
    "noop": "noop.model:NoopAction",
    "stac": "stac.model:StacAction",
    "argo_resume": "argo.resume.model:ArgoResumeAction",
    "cirrus_task": "stepfunctions.task_model:CirrusTaskAction",
}


class PluginAction(Action):
    """A type from an installed package that brings no model of its own."""

    options: Mapping[str, JsonValue] = {}
    """Whatever the handler reads."""


@cache
def built_in() -> Mapping[str, type[Action]]:
    """The models of our own types."""
    return {name: _ours(*where.split(":")) for name, where in BUILT_IN.items()}


def _ours(module: str, model: str) -> type[Action]:
    loaded: type[Action] = getattr(import_module(f"switchyard.backends.{module}"), model)
    return loaded


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
        return built_in()[name]
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
