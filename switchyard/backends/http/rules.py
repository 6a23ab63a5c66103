"""What an answer means: rules by status, JSONPath and regular expression, in order; the first match wins.

The body belongs to somebody else: an expression gets a time limit and a bounded text, and whatever it cannot
decide is no match, so that the next rule is asked.
"""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import jsonpath
import regex

from switchyard.backends.http.answer import Answer, NoJsonError
from switchyard.config.expressions import compile_path
from switchyard.config.sandbox import as_json

Verdict = Literal["success", "retry", "failed", "invalid"]
Find = Callable[[Any], Iterable[Any]]

MATCH_SECONDS = 0.25
MATCH_LONGEST = 64 * 1024  # characters that a regular expression looks at
_PLAIN_PATH = re.compile(r"\$(\.[A-Za-z_][A-Za-z0-9_]*)*", re.ASCII)


class Written(Protocol):
    """A rule as the configuration has it."""

    @property
    def status(self) -> Container[int] | None: ...
    @property
    def path(self) -> str | None: ...
    @property
    def matches(self) -> re.Pattern[str] | None: ...
    @property
    def outcome(self) -> Verdict: ...


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, compiled. No condition means every answer."""

    outcome: Verdict
    status: Container[int] | None = None
    find: Find | None = None  # what the path points to
    pattern: Any = None  # a compiled pattern of `regex`, which can be given a time limit

    @property
    def reads_body(self) -> bool:
        """Whether the status alone does not decide it."""
        return self.find is not None or self.pattern is not None

    def matches(self, answer: Answer) -> bool:
        """Whether every condition holds."""
        if self.status is not None and answer.status not in self.status:
            return False
        if self.find is None:
            return self.pattern is None or self._found(answer.text)
        return any(self.pattern is None or self._found(_text(value)) for value in _values(self.find, answer))

    def _found(self, text: str) -> bool:
        try:
            return self.pattern.search(text[:MATCH_LONGEST], timeout=MATCH_SECONDS) is not None
        except TimeoutError:
            return False


def _values(find: Find, answer: Answer) -> Iterator[Any]:
    try:
        yield from find(answer.document)
    except (NoJsonError, jsonpath.JSONPathError, RecursionError):
        return


def _text(value: Any) -> str:
    return value if isinstance(value, str) else as_json(value)


def compiled(written: Written) -> Rule:
    """The rule that the configuration describes; it checked the expressions already."""
    find = None if written.path is None else _find(written.path)
    pattern = (
        None if written.matches is None else regex.compile(written.matches.pattern, written.matches.flags)
    )
    return Rule(written.outcome, written.status, find, pattern)


def _find(path: str) -> Find:
    if _PLAIN_PATH.fullmatch(path):
        return _looked_up(path.split(".")[1:])
    query = compile_path(path)
    return lambda document: (match.obj for match in query.finditer(document))


def _looked_up(keys: Sequence[str]) -> Find:
    """The short way for what most paths are: `$.error.code`."""

    def find(document: Any) -> Iterable[Any]:
        for key in keys:
            if not isinstance(document, dict) or key not in document:
                return ()
            document = document[key]
        return (document,)

    return find


def verdict(rules: Sequence[Rule], answer: Answer) -> Verdict:
    """The first match's; an answer that no rule knows has failed."""
    for rule in rules:
        if rule.matches(answer):
            return rule.outcome
    return "failed"
