"""Applies flags and the environment over the file: flag, environment, file, default.

`SWITCHYARD_CONDUCTOR__BATCH` reaches `conductor.batch`. Case does not matter, and `-` and `.` of a name are
`_`. A value that starts like JSON ({, [ or ") is read as JSON, any other is a text. A secret given this way
is turned into the reference that it is, so that its value never becomes part of the configuration.
"""

import json
from collections.abc import Collection, Mapping
from typing import Any

from switchyard.config.document import Document
from switchyard.config.problems import Path, Place, Problem, nearest
from switchyard.config.secrets import is_reference

PREFIX = "SWITCHYARD_"


def apply_environment(document: Document, environ: Mapping[str, str], sections: Collection[str]) -> None:
    """Lay every SWITCHYARD_ variable that names a section over the document, by name."""
    for variable in sorted(environ):
        if variable.upper().startswith(PREFIX):
            _apply(document, variable, environ[variable], sections)


def apply_flags(document: Document, flags: Mapping[str, Any]) -> None:
    """Lay flags over it; keys are dotted paths, None means that the flag was not given."""
    for dotted, value in flags.items():
        if value is not None:
            put(document, tuple(dotted.split(".")), value, Place(f"flag for {dotted}"))


def _apply(document: Document, variable: str, text: str, sections: Collection[str]) -> None:
    segments = variable[len(PREFIX) :].lower().split("__")
    if segments[0] in sections:
        _lay(document, _matched(document.data, segments), text, variable)
    elif len(segments) > 1:
        message = f"there is no section {segments[0]!r}{nearest(segments[0], sections)}"
        document.problems.append(Problem((segments[0],), message, Place(f"environment {variable}")))


def _lay(document: Document, path: Path, text: str, variable: str) -> None:
    place = Place(f"environment {variable}")
    if _is_secret(path) and not is_reference(text):
        put(document, path, f"env:{variable}", place)
        return
    try:
        put(document, path, _value(text), place)
    except (ValueError, RecursionError):
        document.problems.append(Problem(path, "starts like JSON, but is not", place))


def _is_secret(path: Path) -> bool:
    return path == ("database", "url") or (len(path) == 2 and path[0] == "secrets")


def _value(text: str) -> Any:
    return json.loads(text) if text[:1] in {"{", "[", '"'} else text


def _matched(data: Any, segments: list[str]) -> Path:
    """The segments as the file spells them, where it does."""
    path: list[str] = []
    for segment in segments:
        keys = data if isinstance(data, dict) else {}
        key = next((key for key in keys if _folded(key) == segment), segment)
        path.append(key)
        data = keys.get(key)
    return tuple(path)


def _folded(key: str) -> str:
    return key.lower().replace("-", "_").replace(".", "_")


def put(document: Document, path: Path, value: Any, place: Place) -> None:
    """Set one value, making the mappings on the way."""
    inner = document.data
    for part in path[:-1]:
        if not isinstance(inner.get(part), dict):
            inner[part] = {}
        inner = inner[part]
    inner[path[-1]] = value
    document.places = {known: where for known, where in document.places.items() if known[: len(path)] != path}
    document.places[path] = place
