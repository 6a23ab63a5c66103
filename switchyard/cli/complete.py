"""Shell completion of names and statuses. Without a configuration there are no names."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from switchyard.errors import ConfigError
from switchyard.status import ENDS, Status

if TYPE_CHECKING:
    from switchyard.config.config import Config

GROUPS = {"failed": ENDS - {Status.SUCCESSFUL}, "open": set(Status) - ENDS - {Status.INFO}}


def action_names(incomplete: str) -> list[str]:
    """Action names of the configuration."""
    return _of_config(incomplete, lambda config: config.actions)


def workflows(incomplete: str) -> list[str]:
    """Workflows of the configuration."""
    return _of_config(incomplete, lambda config: config.workflows)


def schedule_names(incomplete: str) -> list[str]:
    """Schedules of the configuration."""
    return _of_config(incomplete, lambda config: config.schedules)


def status_words(incomplete: str) -> list[str]:
    """Statuses in lower case, and the words that mean several."""
    words = (*GROUPS, *(status.lower() for status in Status if status != Status.INFO))
    return [word for word in words if word.startswith(incomplete.lower())]


def _of_config(incomplete: str, names: "Callable[[Config], Iterable[str]]") -> list[str]:
    try:
        from switchyard.config.load import load  # noqa: PLC0415 - only when somebody asks for names

        return [name for name in names(load(None)) if name.startswith(incomplete)]
    except (ConfigError, ModuleNotFoundError):
        return []
