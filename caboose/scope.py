"""Which actions this caboose is responsible for: those of its sources, and those whose type has no source."""

from collections.abc import Mapping
from dataclasses import dataclass

from switchyard.backends.registry import backend_of
from switchyard.config.config import Config
from switchyard.execution import Shard
from switchyard.sources import Source


@dataclass(frozen=True, slots=True)
class Scope:
    """This caboose's share of the ledger."""

    shard: Shard
    sources: Mapping[str, Source]  # by action name
    not_ours: tuple[str, ...]  # action names that are served by another caboose's sources

    @classmethod
    def of(cls, config: Config, sources: Mapping[str, Source], shard: Shard) -> "Scope":
        """A name whose type has a source that is not here is another's; the rest is everybody's."""
        others = (name for name, action in config.actions.items() if _has_source(action.type))
        return cls(shard, sources, tuple(sorted(name for name in others if name not in sources)))

    def not_now(self) -> tuple[str, ...]:
        """Action names that are not ours, or whose source another caboose leads now."""
        standby = (name for name, source in self.sources.items() if not source.in_charge())
        return (*self.not_ours, *standby)


def _has_source(action_type: str) -> bool:
    backend = backend_of(action_type)
    return backend is not None and backend.sources is not None
