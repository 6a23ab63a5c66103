"""Loads one frozen Config from a file, the environment and flags, or reports all problems at once.

The file is `-c FILE`, else $SWITCHYARD_CONFIG, else ./switchyard.yaml, which must be ours or root's. Where
SWITCHYARD_ACTIONS… says what to run, there need not be one. A setting comes from, in this order: flag,
environment, file, default.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from switchyard.config.config import Config
from switchyard.config.connection import find
from switchyard.config.crosscheck import crosscheck
from switchyard.config.document import Document, read_document
from switchyard.config.explain import explain
from switchyard.config.overlay import apply_environment, apply_flags
from switchyard.config.parts import parts_of, salvage
from switchyard.config.problems import InvalidConfig, Place, Problem

EXTENSION = "x-"  # keys of the top level that are only there for anchors


@dataclass(frozen=True, slots=True)
class Loaded:
    """A valid configuration, and warnings about it."""

    config: Config
    path: Path | None
    warnings: tuple[Problem, ...]
    document: Document


def load(
    path: Path | str | None = None,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, Any] | None = None,
) -> Config:
    """The configuration; InvalidConfig (a ConfigError) with every problem where there are any."""
    return inspect(path, environ, flags).config


def inspect(
    path: Path | str | None = None,
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, Any] | None = None,
) -> Loaded:
    """The same, with the warnings."""
    surroundings = os.environ if environ is None else environ
    file = find(path, surroundings)
    document = Document("the environment") if file is None else read_document(file)
    config, problems = examine(document, surroundings, flags or {}, file.parent if file else Path())
    if config is None:
        raise InvalidConfig(problems)
    return Loaded(config, file, tuple(problems), document)


def examine(
    document: Document, environ: Mapping[str, str], flags: Mapping[str, Any], folder: Path
) -> tuple[Config | None, list[Problem]]:
    """The config, or None, and all problems in the order of the file; warnings alone leave a config."""
    if document.data is None:
        document.data = {}
    if not isinstance(document.data, dict):
        problem = Problem((), "must be a mapping of sections", Place(document.source, 1, 1))
        return None, [*document.problems, problem]
    document.data = {key: value for key, value in document.data.items() if not key.startswith(EXTENSION)}
    apply_environment(document, environ, Config.model_fields)
    apply_flags(document, flags)
    config, found = _validate(document.data, folder)
    parts = parts_of(config) if config is not None else salvage(document.data, context_for(folder))
    problems = _placed([*document.problems, *found, *crosscheck(parts)], document)
    failed = any(not problem.warning for problem in problems)
    return (None if failed else config), problems


def _validate(data: Any, folder: Path) -> tuple[Config | None, list[Problem]]:
    try:
        return Config.model_validate(data, context=context_for(folder), by_alias=True, by_name=False), []
    except ValidationError as error:
        return None, list(explain(error, data))


def context_for(folder: Path) -> dict[str, Any]:
    """What validators may know: that units are written out, and what paths are relative to."""
    return {"written": True, "folder": folder}


def _placed(problems: list[Problem], document: Document) -> list[Problem]:
    """Each once, with its place, in the order of the file; what other sources gave comes first."""
    placed = [problem.at(problem.place or document.place_of(problem.path)) for problem in problems]
    return sorted(dict.fromkeys(placed), key=_order)


def _order(problem: Problem) -> tuple[int, int]:
    return (problem.place.line, problem.place.column) if problem.place else (0, 0)
