"""The types of action there are, ours and those of installed packages, by entry point.

Ours are read from our own distribution, first and by themselves: no other package can displace one, and a
configuration without foreign types does not search the installed packages (which takes 20 ms). A package that
fails to load is an error of the actions that use its type, and of nothing else.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import EntryPoint, distribution, entry_points
from typing import TYPE_CHECKING, Any

from switchyard.backends.plugin import Backend, SourceContext
from switchyard.errors import ConfigError, SwitchyardError
from switchyard.extras import missing_extra
from switchyard.handlers import Handler, HandlerContext
from switchyard.sources import ServedSource

if TYPE_CHECKING:
    from switchyard.config.config import Config
    from switchyard.execution import Shard
    from switchyard.store import Store

GROUP = "switchyard.backends"


@cache
def built_in() -> Mapping[str, Backend]:
    """Our own types, by name."""
    points = distribution("switchyard").entry_points.select(group=GROUP)
    if not points:
        raise ConfigError(f"the installed package has no entry points {GROUP!r}: install it again")
    return {point.name: _load(point) for point in sorted(points, key=lambda each: each.name)}


@cache
def foreign() -> Mapping[str, EntryPoint]:
    """The entry points of other packages, by type; not loaded."""
    ours = built_in()
    return {point.name: point for point in entry_points(group=GROUP) if point.name not in ours}


def type_names() -> tuple[str, ...]:
    """Every type that an action may have here."""
    return (*built_in(), *sorted(foreign()))


def backend_of(name: str) -> Backend | None:
    """The backend of a type; None where there is no such type, ValueError where its package is broken."""
    ours = built_in().get(name)
    if ours is not None:
        return ours
    point = foreign().get(name)
    return None if point is None else _load(point)


def build_handler(name: str, action: Any, context: HandlerContext) -> Handler:
    """The handler of one action name; ConfigError where it cannot be made."""
    backend = _required(action.type)
    try:
        handler = backend.handler(name, action, context)
    except SwitchyardError:
        raise
    except ModuleNotFoundError as error:
        raise missing_extra(error) or error from error
    except Exception as error:
        raise ConfigError(
            f"the handler of {name!r} (type {action.type}) cannot be made: {error!r}"
        ) from error
    if not isinstance(handler, Handler):
        raise ConfigError(f"the type {action.type!r} made something that is not a Handler")
    return handler


def build_sources(
    config: "Config", types: Iterable[str], shard: "Shard", store: "Store"
) -> list[ServedSource]:
    """The sources of these types, or of all configured types where none is named."""
    wanted = tuple(types)
    for name in wanted:
        if _required(name).sources is None:
            raise ConfigError(f"--source {name}: actions of this type never hand over, so there is no source")
    by_type: dict[str, dict[str, Any]] = {}
    for name, action in config.actions.items():
        by_type.setdefault(action.type, {})[name] = action
    context = SourceContext(config, store, shard)
    made = [
        served
        for name, actions in by_type.items()
        if name in wanted or not wanted
        for served in _sources_of(name, actions, context)
    ]
    if wanted and not made:
        raise ConfigError(f"the configuration has no action of type {' or '.join(wanted)}")
    return made


def _sources_of(name: str, actions: Mapping[str, Any], context: SourceContext) -> list[ServedSource]:
    factory = _required(name).sources
    if factory is None:
        return []
    try:
        return list(factory(actions, context))
    except SwitchyardError:
        raise
    except ModuleNotFoundError as error:
        raise missing_extra(error) or error from error
    except Exception as error:
        raise ConfigError(f"the source of type {name} cannot be made: {error!r}") from error


def _required(name: str) -> Backend:
    try:
        backend = backend_of(name)
    except ValueError as error:
        raise ConfigError(f"type {name}: {error}") from error
    if backend is None:
        raise ConfigError(f"there is no type {name!r}; there are {', '.join(type_names())}")
    return backend


def _load(point: EntryPoint) -> Backend:
    try:
        backend: Any = point.load()
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a foreign package may fail in any way
        raise ValueError(f"the package of this type ({point.value}) fails to load: {error!r}") from None
    if not isinstance(backend, Backend) or backend.type != point.name:
        raise ValueError(f"the entry point {point.value} is not a Backend of type {point.name!r}")
    return backend
