"""Classifies responses by rules over status, JSONPath and regular expression; the first match wins.

The body is untrusted, and so is the cost of expressions over it. Expressions that are certainly cheap are
evaluated directly: a status, a plain path, a regular expression that ends within QUICK. All others are
evaluated in the bounded pool, all rules of one response within one limit. A rule that exceeds the limit does
not match, so that the next rule applies.
"""

import re
import time
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import jsonpath
import regex

from switchyard.backends.http.answer import Answer, NoJsonError
from switchyard.config.expressions import compile_path
from switchyard.config.sandbox import as_json
from switchyard.errors import BadInput, PoolUnavailable
from switchyard.process import evaluate
from switchyard.process.shared_pool import shared_pool

ResponseOutcome = Literal["success", "retry", "failed", "invalid"]

QUICK = 0.01  # seconds, for all expressions over one answer together
LONGEST = 32 * 1024  # bytes of a body that is evaluated in this process
SHORT = 4 * 1024  # bytes of a body for more than a plain path
_COSTLY_PATH = re.compile(r"\.\.|match|search")  # recursive descent, and regular expressions without a limit
_PLAIN_PATH = re.compile(r"\$(\.[A-Za-z_][A-Za-z0-9_]*)*", re.ASCII)


class CostlyError(Exception):
    """The expression may take long and must be evaluated in the pool."""


class WrittenRule(Protocol):
    """A rule as written in the configuration."""

    @property
    def status(self) -> Container[int] | None: ...
    @property
    def path(self) -> str | None: ...
    @property
    def matches(self) -> re.Pattern[str] | None: ...
    @property
    def outcome(self) -> ResponseOutcome: ...


@dataclass(frozen=True, slots=True)
class Rule:
    """One compiled rule. A rule without conditions matches every answer."""

    outcome: ResponseOutcome
    status: Container[int] | None = None
    path: str | None = None
    keys: tuple[str, ...] | None = None  # for a plain path
    pattern: Any = None  # the compiled `regex`, in an engine with time limits

    @property
    def reads_body(self) -> bool:
        """Whether the status alone is not enough to decide the rule."""
        return self.path is not None or self.pattern is not None

    def fits(self, status: int) -> bool:
        """Whether the status is one of the rule's."""
        return self.status is None or status in self.status

    def matches(self, answer: Answer, deadline: float) -> bool:
        """Whether the body matches the rule; CostlyError if that takes too long to find out here."""
        if self.path is None:
            return self.pattern is None or self._found(answer.text, deadline)
        return any(
            self.pattern is None or self._found(value if isinstance(value, str) else as_json(value), deadline)
            for value in self._values(answer, self.path)
        )

    def _values(self, answer: Answer, path: str) -> Iterable[Any]:
        try:
            document = answer.document
            if self.keys is not None:
                return _looked_up(document, self.keys)
            if len(answer.body) > SHORT or _COSTLY_PATH.search(path):
                raise CostlyError
            return [match.obj for match in compile_path(path).finditer(document)]
        except (NoJsonError, jsonpath.JSONPathError, RecursionError):
            return ()

    def _found(self, text: str, deadline: float) -> bool:
        left = deadline - time.monotonic()
        if left <= 0:
            raise CostlyError
        try:
            return self.pattern.search(text, timeout=left) is not None
        except TimeoutError:
            raise CostlyError from None


def _looked_up(document: Any, keys: Sequence[str]) -> Iterable[Any]:
    """The shortcut for plain paths, the most common ones: `$.error.code`."""
    for key in keys:
        if not isinstance(document, dict) or key not in document:
            return ()
        document = document[key]
    return (document,)


def compiled(written: WrittenRule) -> Rule:
    """Compile a rule of the configuration, which has already checked the expressions."""
    plain = written.path is not None and _PLAIN_PATH.fullmatch(written.path)
    keys = tuple(written.path.split(".")[1:]) if plain and written.path is not None else None
    pattern = (
        None if written.matches is None else regex.compile(written.matches.pattern, written.matches.flags)
    )
    return Rule(written.outcome, written.status, written.path, keys, pattern)


async def outcome_of(rules: Sequence[Rule], answer: Answer, group: str) -> ResponseOutcome:
    """The outcome of the first rule that matches; FAILED if none does."""
    fitting = [rule for rule in rules if rule.fits(answer.status)]
    if fitting and not fitting[0].reads_body:
        return fitting[0].outcome
    try:
        return _quickly(fitting, answer)
    except CostlyError:
        return await _in_the_pool(fitting, answer, group)


def _quickly(rules: Sequence[Rule], answer: Answer) -> ResponseOutcome:
    deadline = time.monotonic() + QUICK
    for rule in rules:
        if not rule.reads_body:
            return rule.outcome
        if len(answer.body) > LONGEST:
            raise CostlyError
        if rule.matches(answer, deadline):
            return rule.outcome
    return "failed"


async def _in_the_pool(rules: Sequence[Rule], answer: Answer, group: str) -> ResponseOutcome:
    """Evaluate all rules together; beyond a limit, the first rule that does not use the body applies."""
    asked = [
        [rule.path, rule.pattern and rule.pattern.pattern, rule.pattern and rule.pattern.flags]
        if rule.reads_body
        else None
        for rule in rules
    ]
    try:
        first = await shared_pool().run(
            evaluate.first_match, asked, answer.body, answer.fault is None, group=group
        )
    except (BadInput, PoolUnavailable):
        first = next((number for number, rule in enumerate(rules) if not rule.reads_body), None)
    return "failed" if first is None else rules[first].outcome
