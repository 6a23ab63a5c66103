"""`switchyard check`: the problems of a configuration, or a summary of what it serves."""

import json
import os
import sys
from typing import TYPE_CHECKING

import typer

from switchyard.cli.options import AsJson, ConfigFile
from switchyard.config.problems import InvalidConfig, Problem
from switchyard.process.exit import Exit

if TYPE_CHECKING:
    from switchyard.config.load import Loaded


def check(config: ConfigFile = None, as_json: AsJson = False) -> None:
    """Check the configuration: every problem with its line, or a summary of what it serves (78: bad).

    Example: switchyard check -c config/switchyard.yaml
    """
    from switchyard.config.load import inspect  # noqa: PLC0415 - half a second, not for a help text
    from switchyard.config.secrets import unresolved  # noqa: PLC0415

    try:
        loaded = inspect(config)
    except InvalidConfig as error:
        _report_bad(error.problems, as_json)
        raise typer.Exit(Exit.CONFIG) from None
    missing = unresolved(loaded.config, os.environ)
    warnings = [*loaded.warnings, *(one.at(loaded.document.place_of(one.path)) for one in missing)]
    _report_good(loaded, warnings, as_json)


def _report_bad(problems: tuple[Problem, ...], as_json: bool) -> None:
    if as_json:
        print(json.dumps({"ok": False, "problems": [problem.as_json() for problem in problems]}, indent=2))
        return
    for problem in problems:
        print(problem, file=sys.stderr)
    errors = sum(not problem.warning for problem in problems)
    print(f"\n{errors} {'problem' if errors == 1 else 'problems'} to correct.", file=sys.stderr)


def _report_good(loaded: "Loaded", warnings: list[Problem], as_json: bool) -> None:
    if as_json:
        print(json.dumps(_as_json(loaded, warnings), indent=2))
        return
    from switchyard.cli.summary import summary  # noqa: PLC0415

    print(f"{loaded.path} is good.\n")
    summary(loaded.config)
    for warning in warnings:
        print(warning, file=sys.stderr)


def _as_json(loaded: "Loaded", warnings: list[Problem]) -> dict[str, object]:
    config = loaded.config
    return {
        "ok": True,
        "file": str(loaded.path),
        "fingerprint": config.fingerprint(),
        "actions": {name: action.type for name, action in config.actions.items()},
        "workflows": {name: workflow.action for name, workflow in config.workflows.items()},
        "problems": [warning.as_json() for warning in warnings],
    }
