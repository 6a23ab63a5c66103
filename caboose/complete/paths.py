"""Evaluates JSONPaths over untrusted documents in a bounded child process.

A path of names and indexes is cheap, and one with a single wildcard per segment visits the document
once: both are evaluated in place. Filters, descendants and lists of selectors can take exponential time, so
a callback that has one is evaluated by the pool. The child returns where the matches are, not the matches:
the values stay shared with the document, and a large output is not copied for every callback.
"""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jsonpath import JSONPathError
from jsonpath.segments import JSONPathChildSegment
from jsonpath.selectors import IndexSelector, NameSelector, SliceSelector, WildcardSelector

from switchyard.config.callbacks import Callback
from switchyard.config.expressions import compile_path
from switchyard.errors import EvaluationFailed, LimitExceeded
from switchyard.process.bounded.pool import Pool

# A path that parses may still fail on a document: one that is nested deeper than it can be followed.
FAILURES = (JSONPathError, TypeError, ValueError, RecursionError)
MOST = 200_000
MEMORY = 256 * 2**20

Location = Sequence[str | int]


@dataclass(frozen=True, slots=True)
class Found:
    """The matches of one callback's paths: its items, and for each item every path of its parameters."""

    items: Sequence[Location | None]  # None: the callback is for the summary
    values: Sequence[Mapping[str, Sequence[Location]]]
    problem: str | None = None


def is_cheap(callback: Callback) -> bool:
    """Whether its paths visit any document only about once."""
    if callback.for_ == "items":
        return _is_linear(callback.items_path) and all(map(_is_singular, _value_paths(callback)))
    return all(map(_is_linear, _value_paths(callback)))


async def find(
    pool: Pool, callbacks: Sequence[Callback], document: Mapping[str, Any], *, seconds: float, group: str
) -> list[Found]:
    """Evaluate the paths of these callbacks in one call; exceeding its limits fails all of them."""
    specs: list[tuple[str | None, list[str]]] = [
        (callback.items_path if callback.for_ == "items" else None, _value_paths(callback))
        for callback in callbacks
    ]
    try:
        text = await asyncio.to_thread(lambda: json.dumps(document).encode())
        answers = await pool.run(
            *(locate, specs, text),
            seconds=seconds + len(text) / 5e6,
            memory=max(MEMORY, 24 * len(text)),
            group=group,
        )
    except (LimitExceeded, EvaluationFailed, *FAILURES) as error:
        return [Found((), (), str(error))] * len(callbacks)
    return [
        Found(items, [dict(zip(paths, each, strict=True)) for each in values], problem)
        for (_, paths), (items, values, problem) in zip(specs, answers, strict=True)
    ]


def value_at(document: Any, location: Location) -> Any:
    """The value at that location of the document."""
    for part in location:
        document = document[part]
    return document


def locate(specs: Sequence[Any], document: bytes, most: int = MOST) -> list[Any]:
    """In the child: for each (items path, value paths), where they match; [items, values, problem]."""
    seen = json.loads(document)
    answers = []
    for items_path, paths in specs:
        items: list[Any] = []
        values: list[Any] = []
        problem = None
        try:
            for item, subject in _subjects(items_path, seen):
                found = [_locations(path, subject, most) for path in paths]
                items.append(item)
                values.append(found)
                most -= 1 + sum(map(len, found))
        except FAILURES as error:
            problem = str(error)[:500]
        answers.append([items, values, problem])
    return answers


def _subjects(items_path: str | None, seen: dict[str, Any]) -> Any:
    if items_path is None:
        yield None, seen
        return
    for match in compile_path(items_path).finditer(seen):
        yield list(match.parts), {**seen, "item": match.obj}


def _locations(path: str, seen: Any, most: int) -> list[list[str | int]]:
    found = []
    for match in compile_path(path).finditer(seen):
        found.append(list(match.parts))
        if len(found) > most:
            raise ValueError("the paths find too many values")
    return found


def _value_paths(callback: Callback) -> list[str]:
    values = [callback.input] if callback.input else callback.parameters.values()
    return list(dict.fromkeys(value.path for value in values if value.path is not None))


def _is_singular(path: str) -> bool:
    return bool(compile_path(path).singular_query())


def _is_linear(path: str) -> bool:
    simple = (IndexSelector, NameSelector, SliceSelector, WildcardSelector)
    return all(
        isinstance(segment, JSONPathChildSegment)
        and len(segment.selectors) == 1
        and isinstance(segment.selectors[0], simple)
        for segment in compile_path(path).segments
    )
