"""Plans the callbacks of an end: which apply, for which items, with which parameters.

Pure and lazy: no I/O, and of ten thousand items only one action at a time is in memory.
A callback's uuid is derived from its parent, run, name and item, so planning an end again gives the same
actions. A callback that cannot be planned becomes an INVALID action, which the inbox shows; the others go
on.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pydantic import ValidationError

from caboose.complete.paths import FAILURES, Found, Location, value_at
from caboose.rows import Ended, Planned
from switchyard.config.callbacks import Callback, Value
from switchyard.config.expressions import compile_path

# An action's own callbacks are a stranger's: how many, and how much JSONPath there is to compile, is bounded.
OWN_MOST = 100
OWN_PATHS = 16_384

Subject = tuple[int | None, dict[str, Any], str | None]  # the item's number, the document, what went wrong


@dataclass(frozen=True, slots=True)
class Candidate:
    """A callback that an end may have; `found`: its matches, if they were evaluated before."""

    origin: str  # part of the uuid: "configured", or "own 0" and so on
    callback: Callback
    found: Found | None = None


def plan(ended: Ended, candidates: Sequence[Candidate], document: dict[str, Any]) -> Iterator[Planned]:
    """The actions of these callbacks, in a fixed order."""
    for each in candidates:
        if ended.status in each.callback.ends:
            yield from _follow(ended, each, document)


def document_of(ended: Ended, output: Any) -> dict[str, Any]:
    """The document for JSONPaths: {input, output, workflow}; `item` is added for each item."""
    state = {
        "uuid": str(ended.uuid),
        "run": ended.run,
        "name": ended.workflow,
        "status": str(ended.status),
        "error": ended.error,
        "correlation_id": ended.correlation_id,
        "started_at": ended.started_at.isoformat() if ended.started_at else None,
        "ended_at": ended.ended_at.isoformat(),
    }
    return {"input": json.loads(ended.parameters), "output": output, "workflow": state}


def own_callbacks(ended: Ended) -> tuple[list[Candidate], list[Planned]]:
    """The callbacks submitted with the action: the valid ones, and an INVALID action for every other."""
    if ended.own_callbacks is None:
        return [], []
    try:
        written = json.loads(ended.own_callbacks)
    except (ValueError, RecursionError) as error:
        return [], [invalid(ended, "own", f"the callbacks cannot be read: {error}")]
    if not isinstance(written, list) or len(written) > OWN_MOST or _path_length(written) > OWN_PATHS:
        limits = f"at most {OWN_MOST} callbacks with {OWN_PATHS} characters of JSONPath"
        return [], [invalid(ended, "own", f"the callbacks cannot be used: an action has {limits}")]
    read: list[Candidate] = []
    unreadable: list[Planned] = []
    for place, each in enumerate(written):
        try:
            read.append(Candidate(f"own {place}", Callback.model_validate(each)))
        except (ValidationError, RecursionError) as error:
            unreadable.append(_unreadable(ended, each, f"own {place}", error))
    return read, unreadable


def invalid(ended: Ended, origin: str, reason: str, callback: Callback | None = None) -> Planned:
    """An action that can never run; it is inserted so that the inbox shows it."""
    name, action = (callback.name, callback.action) if callback else (origin, ended.action_name)
    uuid = callback_uuid(ended, origin, name, None)
    return Planned(uuid, action, None, name, ended.priority, {}, reason)


def callback_uuid(ended: Ended, origin: str, callback: str, item: int | None) -> UUID:
    """Version 7: the time of the end, then a hash of (parent, run, callback, item)."""
    about = "\0".join([str(ended.uuid), str(ended.run), origin, callback, "" if item is None else str(item)])
    digest = int.from_bytes(hashlib.sha256(about.encode(errors="replace")).digest()[:10])
    moment = int(ended.callbacks_at.timestamp() * 1000) & (1 << 48) - 1
    random_a, random_b = digest >> 68, digest & (1 << 62) - 1
    return UUID(int=moment << 80 | 7 << 76 | random_a << 64 | 2 << 62 | random_b)


def _follow(ended: Ended, candidate: Candidate, document: dict[str, Any]) -> Iterator[Planned]:
    callback = candidate.callback
    for number, (item, seen, failed) in enumerate(_subjects(candidate, document)):
        uuid = callback_uuid(ended, candidate.origin, callback.name, item)
        located = candidate.found.values[number] if candidate.found and not failed else None
        parameters, wrong = ({}, failed) if failed else _parameters(callback, seen, located)
        priority = ended.priority if callback.priority is None else callback.priority
        yield Planned(uuid, callback.action, callback.workflow, callback.name, priority, parameters, wrong)


def _subjects(candidate: Candidate, document: dict[str, Any]) -> Iterator[Subject]:
    """The document once, or once per item; without an output there are no items.

    If the filter fails midway, the items before it remain, and the last subject carries the reason.
    """
    callback, found = candidate.callback, candidate.found
    try:
        if found is not None:
            for place, location in enumerate(found.items):
                yield _subject(place, document, location)
            if found.problem:
                yield None, document, _failed(callback, found.problem)
        elif callback.for_ == "summary":
            yield None, document, None
        else:
            for place, match in enumerate(compile_path(callback.items_path).finditer(document)):
                yield place, {**document, "item": match.obj}, None
    except FAILURES as error:
        yield None, document, _failed(callback, error)


def _subject(place: int, document: dict[str, Any], location: Location | None) -> Subject:
    if location is None:
        return None, document, None
    return place, {**document, "item": value_at(document, location)}, None


def _parameters(
    callback: Callback, seen: dict[str, Any], located: Mapping[str, Sequence[Location]] | None
) -> tuple[Mapping[str, Any], str | None]:
    """The parameters, or what is wrong with them."""
    try:
        if callback.input is not None:
            whole = evaluate(callback.input, seen, located)
            if not isinstance(whole, dict):
                return {}, f"the input of {callback.workflow} must be an object, not {_kind(whole)}"
            return whole, None
        named = {name: evaluate(value, seen, located) for name, value in callback.parameters.items()}
    except FAILURES as error:
        return {}, _failed(callback, error)
    return _given(callback, seen) | named, None


def _failed(callback: Callback, error: Exception | str) -> str:
    return f"a JSONPath of the callback {callback.name} failed: {error}"


def _given(callback: Callback, seen: dict[str, Any]) -> dict[str, Any]:
    """The default parameters: the item; for a summary, the state and the summary."""
    if callback.for_ == "items":
        return {"item": seen["item"]}
    if callback.parameters:
        return {}
    output = seen["output"]
    summary = output.get("summary") if isinstance(output, dict) else None
    return {"workflow": seen["workflow"], "summary": summary}


def evaluate(
    value: Value, seen: Mapping[str, Any], located: Mapping[str, Sequence[Location]] | None = None
) -> Any:
    """The literal, or the result of the path: one match gives its value, several a list, none the default."""
    if value.path is None:
        return value.value
    path = compile_path(value.path)
    found = path.findall(seen) if located is None else [value_at(seen, each) for each in located[value.path]]
    if not found:
        return value.default
    return found[0] if path.singular_query() else found


def _unreadable(ended: Ended, written: Any, origin: str, error: Exception) -> Planned:
    """The INVALID action for a callback that cannot be parsed."""
    given = written if isinstance(written, dict) else {}
    name = _name(given.get("name"), origin)
    reason = f"the callback cannot be read: {error}"
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "it"
        reason = f"the callback cannot be read: {where}: {first['msg']}"
    uuid = callback_uuid(ended, origin, name, None)
    action = _name(given.get("action"), ended.action_name)
    return Planned(uuid, action, None, name, ended.priority, {}, reason)


def _path_length(written: Sequence[Any]) -> int:
    """The total length of the JSONPaths in callbacks that were not checked yet."""
    total, waiting = 0, list(written)
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            waiting += each
        elif isinstance(each, dict):
            total += sum(len(text) for key in ("path", "items") if isinstance(text := each.get(key), str))
            waiting += [value for value in each.values() if isinstance(value, dict | list)]
    return total


def _name(given: Any, otherwise: str) -> str:
    return given if isinstance(given, str) and 0 < len(given) <= 200 and "\0" not in given else otherwise


def _kind(value: Any) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"
