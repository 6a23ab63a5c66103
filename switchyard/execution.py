"""What an execution is called, and how it is labelled: conductor writes it, caboose reads it back.

A run is one execution, and its name is made of the ledger's key alone, so that a create that timed out can be
looked for. The shard label is one of SHARDS fixed buckets of the uuid: caboose's `--shard I/N` selects every
N-th bucket, so N may change without relabelling anything. In SQL the bucket is `lock_id & 63`.
"""

import re
from dataclasses import dataclass
from uuid import UUID

ACTION_LABEL = "switchyard.dev/action"
WORKFLOW_LABEL = "switchyard.dev/workflow"
SHARD_LABEL = "switchyard.dev/shard"
MANAGED_BY_LABEL = "switchyard.dev/managed-by"

SHARDS = 64

_NAME = re.compile(r"([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:-r([1-9][0-9]{0,8}))?")


def name_of(uuid: UUID, run: int) -> str:
    """The uuid, with `-rN` from the second run."""
    return str(uuid) if run == 1 else f"{uuid}-r{run}"


def parse_name(name: str) -> tuple[UUID, int] | None:
    """The (uuid, run) of a name that `name_of` made; None for any other name."""
    match = _NAME.fullmatch(name)
    if match is None or match[2] == "1":
        return None
    return UUID(match[1]), int(match[2] or 1)


def bucket_of(uuid: UUID) -> int:
    """Which of the SHARDS buckets an action falls into: its last six bits, which are random."""
    return uuid.int % SHARDS


@dataclass(frozen=True, slots=True)
class Shard:
    """One caboose's share: number `index` (from 0) of `count`."""

    index: int = 0
    count: int = 1

    def __post_init__(self) -> None:
        if not (0 <= self.index < self.count <= SHARDS):
            raise ValueError(f"shard {self.index}/{self.count}: need 0 <= I < N <= {SHARDS}")

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """`I/N`, with I from 0."""
        match = re.fullmatch(r"([0-9]{1,2})/([0-9]{1,2})", text)
        if match is None:
            raise ValueError(f"shard {text!r}: write I/N, as in 0/4")
        return cls(int(match[1]), int(match[2]))

    @property
    def buckets(self) -> tuple[int, ...]:
        """The buckets of this share."""
        return tuple(range(self.index, SHARDS, self.count))

    def owns(self, uuid: UUID) -> bool:
        """Whether an action falls into this share."""
        return bucket_of(uuid) % self.count == self.index

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


WHOLE = Shard()
