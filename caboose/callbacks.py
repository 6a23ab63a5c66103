"""From an end to the actions that follow it: which callbacks apply, for what, with which parameters.

Pure and lazy: nothing is read or written here, and ten thousand items are never more than one action at a
time. A callback's uuid is made of what it is for, so that whoever plans the same end again plans the same
actions.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from jsonpath import JSONPathError
from pydantic import ValidationError

from switchyard.config.callbacks import Callback, Value
from switchyard.config.expressions import compile_path
from switchyard.status import Status

# A path that parses may still fail on a document: one that is nested deeper than it can be followed.
_FAILURES = (JSONPathError, TypeError, ValueError, RecursionError)


@dataclass(frozen=True, slots=True)
class Ended:
    """The end that stands, and what callbacks may speak of."""

    uuid: UUID
    run: int
    status: Status
    error: str | None
    action_name: str
    workflow: str | None
    priority: int
    correlation_id: str | None
    started_at: datetime | None
    ended_at: datetime
    parameters: Mapping[str, Any]
    own_callbacks: Sequence[Any]  # as the submitter wrote them: anything at all

    def document(self, output: Any) -> dict[str, Any]:
        """What JSONPaths see: {input, output, workflow}; `item` is added for each."""
        return {"input": self.parameters, "output": output, "workflow": self._state()}

    def _state(self) -> dict[str, Any]:
        return {
            "uuid": str(self.uuid),
            "run": self.run,
            "name": self.workflow,
            "status": str(self.status),
            "error": self.error,
            "correlation_id": self.correlation_id,
            "started_at": self.started_at.isoformat() if self.started_at else None,
            "ended_at": self.ended_at.isoformat(),
        }


@dataclass(frozen=True, slots=True)
class Planned:
    """One action to insert. `invalid`: it can never run, and is inserted to be seen."""

    uuid: UUID
    action_name: str
    workflow: str | None
    callback: str
    priority: int
    parameters: Mapping[str, Any]
    invalid: str | None = None


Subject = tuple[int | None, dict[str, Any], str | None]  # the item's number, what paths see, what went wrong


def plan(ended: Ended, configured: Sequence[Callback], output: Any) -> Iterator[Planned]:
    """Every action that follows this end, in a fixed order."""
    document = ended.document(output)
    for callback in configured:
        yield from _follow(ended, callback, "configured", document)
    for place, written in enumerate(ended.own_callbacks):
        origin = f"own {place}"
        try:
            callback = Callback.model_validate(written)
        except ValidationError as error:
            yield _unreadable(ended, written, origin, error)
        else:
            yield from _follow(ended, callback, origin, document)


def callback_uuid(ended: Ended, origin: str, callback: str, item: int | None) -> UUID:
    """Version 7: the time of the end, then a hash of (parent, run, callback, item)."""
    about = "\0".join([str(ended.uuid), str(ended.run), origin, callback, "" if item is None else str(item)])
    digest = int.from_bytes(hashlib.sha256(about.encode()).digest()[:10])
    moment = int(ended.ended_at.timestamp() * 1000) & (1 << 48) - 1
    random_a, random_b = digest >> 68, digest & (1 << 62) - 1
    return UUID(int=moment << 80 | 7 << 76 | random_a << 64 | 2 << 62 | random_b)


def _follow(ended: Ended, callback: Callback, origin: str, document: dict[str, Any]) -> Iterator[Planned]:
    if ended.status not in callback.ends:
        return
    for item, seen, failed in _subjects(callback, document):
        uuid = callback_uuid(ended, origin, callback.name, item)
        parameters, wrong = ({}, failed) if failed else _parameters(callback, seen)
        priority = ended.priority if callback.priority is None else callback.priority
        yield Planned(uuid, callback.action, callback.workflow, callback.name, priority, parameters, wrong)


def _subjects(callback: Callback, document: dict[str, Any]) -> Iterator[Subject]:
    """The document once, or once an item; an item filter finds nothing where there is no output.

    Where the filter fails midway, the items before stand, and the last subject says what is wrong.
    """
    if callback.for_ == "summary":
        yield None, document, None
        return
    try:
        for place, match in enumerate(compile_path(callback.items_path).finditer(document)):
            yield place, {**document, "item": match.obj}, None
    except _FAILURES as error:
        yield None, document, _failed(callback, error)


def _parameters(callback: Callback, seen: dict[str, Any]) -> tuple[Mapping[str, Any], str | None]:
    """The parameters, or what is wrong with them."""
    try:
        if callback.input is not None:
            whole = evaluate(callback.input, seen)
            if not isinstance(whole, dict):
                return {}, f"the input of {callback.workflow} must be an object, not {_kind(whole)}"
            return whole, None
        named = {name: evaluate(value, seen) for name, value in callback.parameters.items()}
    except _FAILURES as error:
        return {}, _failed(callback, error)
    return _given(callback, seen) | named, None


def _failed(callback: Callback, error: Exception) -> str:
    return f"a JSONPath of the callback {callback.name} failed: {error}"


def _given(callback: Callback, seen: dict[str, Any]) -> dict[str, Any]:
    """Passed on unasked: each item; of a summary that names no parameters, the state and the summary."""
    if callback.for_ == "items":
        return {"item": seen["item"]}
    if callback.parameters:
        return {}
    output = seen["output"]
    summary = output.get("summary") if isinstance(output, dict) else None
    return {"workflow": seen["workflow"], "summary": summary}


def evaluate(value: Value, seen: Mapping[str, Any]) -> Any:
    """The literal, or what the path finds: one match gives its value, several a list, none the default."""
    if value.path is None:
        return value.value
    path = compile_path(value.path)
    found = path.findall(seen)
    if not found:
        return value.default
    return found[0] if path.singular_query() else found


def _unreadable(ended: Ended, written: Any, origin: str, error: ValidationError) -> Planned:
    """A callback that cannot be read becomes an action that says so, in the inbox."""
    given = written if isinstance(written, dict) else {}
    name = _name(given.get("name"), origin)
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(str(part) for part in first["loc"]) or "it"
    reason = f"the callback cannot be read: {where}: {first['msg']}"
    uuid = callback_uuid(ended, origin, name, None)
    return Planned(
        uuid, _name(given.get("action"), ended.action_name), None, name, ended.priority, {}, reason
    )


def _name(given: Any, otherwise: str) -> str:
    return given if isinstance(given, str) and 0 < len(given) <= 200 and "\0" not in given else otherwise


def _kind(value: Any) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"
