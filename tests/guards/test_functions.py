"""A function fits on a screen. Its complexity is checked by ruff (C901)."""

import ast

from tests.guards.sources import modules

LONGEST = 40
# Commands: most of their lines are options with their help.
EXCEPTIONS = {"switchyard/cli/up.py:up"}


def test_no_function_is_longer_than_forty_lines() -> None:
    functions = [
        (f"{path}:{node.name}", (node.end_lineno or 0) - node.lineno + 1)
        for path, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    found = [(name, lines) for name, lines in functions if lines > LONGEST and name not in EXCEPTIONS]
    assert found == [], "split it, or add it to EXCEPTIONS with the reason"
