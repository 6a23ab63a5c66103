"""The actions that this caboose is responsible for: those of its sources, and of types without a source."""

from collections.abc import Mapping
from dataclasses import dataclass

from caboose.leader import Leader
from switchyard.backends.registry import backend_of
from switchyard.config.config import Config
from switchyard.execution import Shard
from switchyard.sources import Source


@dataclass(frozen=True, slots=True)
class Scope:
    """This caboose's share of the ledger."""

    shard: Shard
    sources: Mapping[str, Source]  # by action name
    leaders: Mapping[str, Leader]  # by action name; a name without one has nothing to elect
    not_ours: tuple[str, ...]  # action names that are served by another caboose's sources

    @classmethod
    def of(
        cls,
        config: Config,
        sources: Mapping[str, Source],
        shard: Shard,
        leaders: Mapping[str, Leader] | None = None,
    ) -> "Scope":
        """This caboose's scope; names whose type has a source that does not run here belong to others."""
        others = (name for name, action in config.actions.items() if _has_source(action.type))
        return cls(
            shard, sources, leaders or {}, tuple(sorted(name for name in others if name not in sources))
        )

    def not_now(self) -> tuple[str, ...]:
        """Action names outside this scope, or whose source another caboose leads now."""
        return (*self.not_ours, *(name for name, leader in self.leaders.items() if not leader.leads))


def _has_source(action_type: str) -> bool:
    backend = backend_of(action_type)
    return backend is not None and backend.sources is not None
