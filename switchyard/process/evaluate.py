"""JSON Schema and JSONPath over untrusted data, as functions for the child processes of bounded/.

    problems = await pool.run(evaluate.schema_problems, schema.text, value, group=action_name)
    found = await pool.run(evaluate.paths, ["$.input.n", "$.output.items[*]"], document, group=action_name)

The expressions themselves were checked when the configuration or the submission was read.
"""

import json
import time
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

# Imported by the children only: a program that names these functions need not wait for them.
PRELOAD = ("jsonschema", "referencing.jsonschema", "jsonpath", "regex", "switchyard.process.evaluate")

Found = list[Any]  # of three: values, whether the path can match once only, what went wrong


def schema_problems(schema: str, value: Any, most: int = 20) -> list[list[Any]]:
    """The first schema problems of a value, each as [path, message].

    `schema` is a JSON text, and `value` too where it is bytes.
    """
    document = json.loads(value) if isinstance(value, bytes) else value
    errors = islice(_validator(schema).iter_errors(document), most)
    return [[list(error.absolute_path), error.message[:500]] for error in errors]


@lru_cache(maxsize=64)
def _validator(schema: str) -> Any:
    from jsonschema import Draft202012Validator  # noqa: PLC0415
    from jsonschema.validators import validator_for  # noqa: PLC0415
    from referencing import Registry, Resource  # noqa: PLC0415
    from referencing.jsonschema import DRAFT202012  # noqa: PLC0415

    document = json.loads(schema)
    resource = Resource.from_contents(document, default_specification=DRAFT202012)
    # A registry of its own: without one, a reference that leaves the document would be fetched.
    registry = Registry().with_resource(resource.id() or "", resource).crawl()
    kind = validator_for(document, default=Draft202012Validator)
    return kind(document, registry=registry)


def paths(expressions: list[str], document: Any, most: int = 100_000) -> list[Found]:
    """The values that each JSONPath finds, at most `most` together; `document` may be JSON text as bytes."""
    seen = json.loads(document) if isinstance(document, bytes) else document
    found = []
    for expression in expressions:
        values, single, wrong = _found(expression, seen, most)
        most -= len(values)
        found.append([values, single, wrong])
    return found


def _found(expression: str, seen: Any, most: int) -> Found:
    from jsonpath import JSONPathError  # noqa: PLC0415

    values: list[Any] = []
    try:
        path = _path(expression)
        for match in path.finditer(seen):
            if len(values) >= most:
                return [values, False, "the paths find too many values"]
            values.append(match.obj)
    except (JSONPathError, TypeError, ValueError) as error:
        return [values, False, str(error)[:500]]
    return [values, path.singular_query(), None]


@lru_cache(maxsize=1024)
def _path(expression: str) -> Any:
    import jsonpath  # noqa: PLC0415

    return jsonpath.compile(expression, strict=True)


MATCH_SECONDS = 0.25  # for all regular expressions of one call together
MATCH_LONGEST = 64 * 1024  # characters that a regular expression looks at


def first_match(rules: list[list[Any] | None], body: bytes, whole: bool) -> int | None:
    """The index of the first rule that a body matches; a rule is [path, pattern, flags], None always matches.

    A regular expression that takes too long finds nothing, and neither does a path in what is not JSON.
    """
    document = _document(body) if whole else None
    deadline = time.monotonic() + MATCH_SECONDS
    for number, rule in enumerate(rules):
        if rule is None:
            return number
        path, pattern, flags = rule
        texts = [body.decode("utf-8", "replace")] if path is None else _texts(path, document)
        if any(pattern is None or _searched(pattern, flags, text, deadline) for text in texts):
            return number
    return None


def _document(body: bytes) -> list[Any] | None:
    """The parsed JSON in a list of one; None if it is not JSON."""
    try:
        return [json.loads(body)]
    except (ValueError, RecursionError):
        return None


def _texts(path: str, document: list[Any] | None) -> Iterator[str]:
    from jsonpath import JSONPathError  # noqa: PLC0415

    if document is None:
        return
    try:
        for match in _path(path).finditer(document[0]):
            value = match.obj
            yield (
                value
                if isinstance(value, str)
                else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
            )
    except (JSONPathError, RecursionError):
        return


def _searched(pattern: str, flags: int, text: str, deadline: float) -> bool:
    left = deadline - time.monotonic()
    try:
        return left > 0 and _compiled(pattern, flags).search(text[:MATCH_LONGEST], timeout=left) is not None
    except TimeoutError:
        return False


@lru_cache(maxsize=1024)
def _compiled(pattern: str, flags: int) -> Any:
    import regex  # noqa: PLC0415

    return regex.compile(pattern, flags)
