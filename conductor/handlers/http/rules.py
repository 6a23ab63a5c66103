"""What an answer means: rules by status, JSONPath and regular expression, in order; the first match wins.

The body belongs to somebody else: an expression gets a time limit and a bounded text, and whatever it cannot
decide is no match, so that the next rule is asked.
"""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import jsonpath
import regex

from conductor.handlers.http.answer import Answer, NoJsonError
from switchyard.config.sandbox import as_json

Verdict = Literal["success", "retry", "failed", "invalid"]

MATCH_SECONDS = 0.25
MATCH_LONGEST = 64 * 1024  # characters that a regular expression looks at


class Written(Protocol):
    """A rule as the configuration has it."""

    @property
    def status(self) -> Container[int] | None: ...
    @property
    def path(self) -> str | None: ...
    @property
    def matches(self) -> Any: ...
    @property
    def outcome(self) -> Verdict: ...


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, compiled. No condition means every answer."""

    outcome: Verdict
    status: Container[int] | None = None
    path: jsonpath.JSONPath | None = None
    pattern: Any = None  # a compiled pattern of `regex`, which can be given a time limit

    @property
    def reads_body(self) -> bool:
        """Whether the status alone does not decide it."""
        return self.path is not None or self.pattern is not None

    def matches(self, answer: Answer) -> bool:
        """Whether every condition holds."""
        if self.status is not None and answer.status not in self.status:
            return False
        if self.path is None:
            return self.pattern is None or self._found(answer.text)
        return any(self.pattern is None or self._found(_text(value)) for value in _values(self.path, answer))

    def _found(self, text: str) -> bool:
        try:
            return self.pattern.search(text[:MATCH_LONGEST], timeout=MATCH_SECONDS) is not None
        except TimeoutError:
            return False


def _values(path: jsonpath.JSONPath, answer: Answer) -> Iterable[Any]:
    try:
        yield from (match.obj for match in path.finditer(answer.document))
    except (NoJsonError, jsonpath.JSONPathError, RecursionError):
        return


def _text(value: Any) -> str:
    return value if isinstance(value, str) else as_json(value)


def compiled(written: Written) -> Rule:
    """The rule that the configuration describes; it checked the expressions already."""
    path = None if written.path is None else jsonpath.compile(written.path, strict=True)
    pattern = (
        None if written.matches is None else regex.compile(written.matches.pattern, written.matches.flags)
    )
    assert path is None or isinstance(path, jsonpath.JSONPath), "a rule's path has no compound operators"
    return Rule(written.outcome, written.status, path, pattern)


def verdict(rules: Sequence[Rule], answer: Answer) -> Verdict:
    """The first match's; an answer that no rule knows has failed."""
    return next((rule.outcome for rule in rules if rule.matches(answer)), "failed")
