"""Plans the callbacks of an end: which apply, for which items, with which parameters.

Pure and lazy: nothing is read or written here, and of ten thousand items only one action at a time exists.
A callback's uuid is derived from its parent, run, name and item, so planning an end again gives the same
actions.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from jsonpath import JSONPathError
from pydantic import ValidationError

from caboose.rows import Ended, Planned
from switchyard.config.callbacks import Callback, Value
from switchyard.config.expressions import compile_path

# A path that parses may still fail on a document: one that is nested deeper than it can be followed.
_FAILURES = (JSONPathError, TypeError, ValueError, RecursionError)


Subject = tuple[int | None, dict[str, Any], str | None]  # the item's number, the document, what went wrong


def plan(ended: Ended, configured: Sequence[Callback], output: Any) -> Iterator[Planned]:
    """Every action that follows this end, in a fixed order."""
    document = document_of(ended, output)
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


def document_of(ended: Ended, output: Any) -> dict[str, Any]:
    """What JSONPaths see: {input, output, workflow}; `item` is added for each item."""
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
    return {"input": ended.parameters, "output": output, "workflow": state}


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
    """The document once, or once per item; an item filter finds nothing where there is no output.

    Where the filter fails midway, the items before it remain, and the last subject carries the reason.
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
    """Passed by default: each item; for a summary without parameters, the state and the summary."""
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
    """A callback that cannot be read becomes an INVALID action, which the inbox shows."""
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
