"""What a package registers to add a type of action: one `Backend` for each type.

A backend is an entry point of the group `switchyard.backends`, named like the `type` that configurations use,
whose value is a `Backend`. Ours are registered in the same way (see pyproject.toml), each in the `backend`
module of its folder. Reading a configuration loads the record and its model, so that module imports nothing
that takes long; conductor calls `handler`, caboose calls `sources`, and only these import a client library.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from switchyard.execution import Shard
from switchyard.handlers import Handler, HandlerContext
from switchyard.sources import ServedSource

if TYPE_CHECKING:
    from switchyard.config.action import Action

    Model = type[Action]

A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class SourceContext:
    """What every source may use of caboose: Config, Store, and this caboose's share of the actions."""

    config: Any
    store: Any
    shard: Shard


@dataclass(frozen=True, slots=True)
class Backend:
    """One type of action: how it is configured, dispatched and, where it hands over, followed to its end."""

    type: str
    handler: Callable[[str, Any, HandlerContext], Handler]
    """Called with the action's name, its configuration and the context, once per action name."""
    model: "Model | None" = None
    """The configuration; without it an action has what all have, and `options`."""
    sources: Callable[[Mapping[str, Any], SourceContext], Iterable[ServedSource]] | None = None
    """Called once, with all actions of the type by name. None: its handler never hands over."""


def by_place(actions: Mapping[str, A], place: Callable[[A], Hashable]) -> list[tuple[A, tuple[str, ...]]]:
    """One action for each place, with the names of all that share it: they need one source together."""
    groups: dict[Hashable, tuple[A, list[str]]] = {}
    for name, action in actions.items():
        groups.setdefault(place(action), (action, []))[1].append(name)
    return [(action, tuple(names)) for action, names in groups.values()]
