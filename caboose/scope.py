"""Which actions this caboose looks after: those of its sources, and those that no source could look after."""

from collections.abc import Mapping
from dataclasses import dataclass

from switchyard.config.config import Config
from switchyard.execution import Shard
from switchyard.sources import Source

SOURCED = frozenset({"argo", "cirrus", "local", "sqs"})


@dataclass(frozen=True, slots=True)
class Scope:
    """This caboose's share of the ledger."""

    shard: Shard
    sources: Mapping[str, Source]  # by action name
    not_ours: tuple[str, ...]  # action names that another caboose's sources look after

    @classmethod
    def of(cls, config: Config, sources: Mapping[str, Source], shard: Shard) -> "Scope":
        """What has a source type and is not served here is somebody else's; the rest is everybody's."""
        others = (name for name, action in config.actions.items() if action.type in SOURCED)
        return cls(shard, sources, tuple(sorted(name for name in others if name not in sources)))
