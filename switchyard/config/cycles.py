"""Workflows whose callbacks lead back to them: allowed, for a filter may end it, but worth a warning."""

from collections.abc import Iterator

from switchyard.config.parts import Parts
from switchyard.config.problems import Problem

Edge = tuple[str, int]  # the workflow that is started, and the number of the callback that does it


def cycles(parts: Parts) -> Iterator[Problem]:
    """One warning for each callback that closes a circle."""
    edges = {name: _chained(parts, name) for name in parts.workflows}
    for name, targets in edges.items():
        for target, number in targets:
            if name in _reached(edges, target):
                path = ("workflows", name, "callbacks", number, "workflow")
                message = f"{target!r} leads back to {name!r}: without a filter this never ends"
                yield Problem(path, message, warning=True)


def _chained(parts: Parts, name: str) -> list[Edge]:
    workflow = parts.workflows[name]
    callbacks = workflow.callbacks if workflow is not None else ()
    return [(callback.workflow, number) for number, callback in callbacks if callback.workflow is not None]


def _reached(edges: dict[str, list[Edge]], start: str) -> set[str]:
    reached: set[str] = set()
    waiting = [start]
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(target for target, _ in edges.get(name, ()))
    return reached
