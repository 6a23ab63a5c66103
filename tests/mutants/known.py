"""Changes that no test has to notice: they cannot be observed, or do no harm. harmless.toml gives a reason for each."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass

from tests.mutants.change import Change
from tests.mutants.plan import HERE, changes_of


@dataclass(frozen=True)
class Known:
    """A line of a file, and one change of it, or any if none is named."""

    file: str
    line: str
    reason: str
    change: str | None = None

    def covers(self, change: Change) -> bool:
        same_line = (self.file, self.line) == (change.file, change.line_text)
        return same_line and self.change in (None, change.text)


def known() -> list[Known]:
    return [Known(**entry) for entry in tomllib.loads((HERE / "harmless.toml").read_text())["harmless"]]


def is_known(change: Change, listed: Sequence[Known]) -> bool:
    return any(entry.covers(change) for entry in listed)


def stale(listed: Sequence[Known]) -> list[Known]:
    """Entries whose line or change is no longer there."""
    return [entry for entry in listed if not any(map(entry.covers, changes_of(entry.file)))]
