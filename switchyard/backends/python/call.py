"""In the child process: imports the function and calls it. The answer is plain data, `[kind, ...]`."""

import asyncio
import inspect
import json
import traceback
from collections.abc import Awaitable, Callable
from importlib import import_module
from typing import Any
from uuid import UUID

from switchyard.tasks import Attempt, TaskFailed, TaskRetry, attempt

LONGEST_ERROR = 2000
LONGEST_TRACE = 8000

Answer = list[Any]
DONE, FAILED, INVALID, RETRY = "done", "failed", "invalid", "retry"


def problem(function: str) -> str | None:
    """Why the function cannot be used."""
    try:
        found = _found(function)
    except (MemoryError, RecursionError):
        raise
    except BaseException as error:  # noqa: BLE001 - an import may fail in any way, SystemExit included
        return f"{function} cannot be imported: {_described(error)}"
    return None if callable(found) else f"{function} is not a function"


def call(function: str, parameters: bytes, about: dict[str, Any]) -> Answer:
    """Call it with the parameters, which are JSON."""
    target, arguments = _found(function), json.loads(parameters)
    try:
        inspect.signature(target).bind(**arguments)
    except TypeError as error:
        return [INVALID, f"the parameters do not fit {function}: {error}"]
    attempt.set(Attempt(**{**about, "uuid": UUID(about["uuid"])}))
    try:
        result = _result(target, arguments)
    except (MemoryError, RecursionError):
        raise
    except TaskFailed as error:
        return [FAILED, str(error)[:LONGEST_ERROR] or "TaskFailed", _trace()]
    except TaskRetry as error:
        return [RETRY, str(error)[:LONGEST_ERROR], _trace(), error.delay]
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is this attempt's failure
        return [RETRY, _described(error), _trace(), None]
    try:
        return [DONE, None if result is None else json.dumps({"result": result}, allow_nan=False)]
    except (TypeError, ValueError) as error:
        return [FAILED, f"what {function} returned cannot be stored as JSON: {error}", None]


def _found(function: str) -> Callable[..., Any]:
    module, _, name = function.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), name)
    return found


def _result(target: Callable[..., Any], arguments: dict[str, Any]) -> Any:
    value = target(**arguments)
    return asyncio.run(_awaited(value)) if inspect.isawaitable(value) else value


async def _awaited(value: Awaitable[Any]) -> Any:
    return await value


def _described(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:LONGEST_ERROR]


def _trace() -> str:
    return traceback.format_exc()[-LONGEST_TRACE:]
