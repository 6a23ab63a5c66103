"""Problems of a configuration: place, reason and suggestion, all reported at once."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from difflib import get_close_matches

from switchyard.errors import ConfigError

Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a file (from 1), or another source such as a variable of the environment."""

    source: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        return f"{self.source}:{self.line}:{self.column}" if self.line else self.source


@dataclass(frozen=True, slots=True)
class Problem:
    """One error or, if `warning` is set, one warning."""

    path: Path
    message: str
    place: Place | None = None
    warning: bool = False

    def at(self, place: Place) -> "Problem":
        """The same, with its place."""
        return replace(self, place=place)

    @property
    def dotted(self) -> str:
        """The path as people write it: `workflows.nutrient.callbacks[0].when`."""
        return dotted(self.path)

    def __str__(self) -> str:
        kind = "warning" if self.warning else ""
        return ": ".join(part for part in (str(self.place or ""), kind, self.dotted, self.message) if part)

    def as_json(self) -> dict[str, object]:
        """For programs."""
        place = self.place or Place("")
        return {
            "severity": "warning" if self.warning else "error",
            "source": place.source,
            "line": place.line or None,
            "column": place.column or None,
            "path": self.dotted,
            "message": self.message,
        }


def dotted(path: Path) -> str:
    """A path as people write it."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")


def nearest(word: str, known: Iterable[str]) -> str:
    """` (did you mean 'batch'?)`, or nothing where no known word is near."""
    by_lower = {name.lower(): name for name in known}
    found = get_close_matches(word.lower()[:100], by_lower, n=1, cutoff=0.6)
    return f" (did you mean {by_lower[found[0]]!r}?)" if found else ""


class InvalidConfig(ConfigError):  # noqa: N818 - named like its siblings in errors.py
    """A configuration that cannot be used; its message has every problem on a line of its own."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        lines = [str(problem) for problem in self.problems]
        head = [f"{len(lines)} problems in the configuration:"] if len(lines) > 1 else []
        super().__init__("\n".join([*head, *lines]))
