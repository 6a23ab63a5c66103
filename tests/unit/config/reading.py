"""Reading a configuration that a test writes in place."""

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

from switchyard.config import Config, Problem
from switchyard.config.document import parse_document
from switchyard.config.load import examine
from switchyard.config.problems import InvalidConfig

NOOP = "actions: {n: {type: noop}}\n"


def read(
    text: str, environ: Mapping[str, str] | None = None, flags: Mapping[str, Any] | None = None
) -> Config:
    """The config; fails with its problems where there are any."""
    config, problems = _examine(text, environ, flags)
    assert config is not None, "\n".join(str(problem) for problem in problems)
    return config


def problems(text: str, environ: Mapping[str, str] | None = None) -> list[Problem]:
    """What is wrong with it, or worth knowing; without the warning that nothing is served."""
    found = _examine(text, environ, None)[1]
    return [problem for problem in found if "nothing is served" not in problem.message]


def _examine(
    text: str, environ: Mapping[str, str] | None, flags: Mapping[str, Any] | None
) -> tuple[Config | None, list[Problem]]:
    try:
        document = parse_document(dedent(text).encode(), "s.yaml")
    except InvalidConfig as error:
        return None, list(error.problems)
    return examine(document, environ or {}, flags or {}, Path())
