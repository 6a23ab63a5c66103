"""The docstring of a package describes the path of data through it: every file it names is there."""

import ast
import re

from tests.guards.sources import ROOT, modules

FILE = re.compile(r"(?<![\w/.*…])((?:\w+/)*\w+\.(?:py|sql))\b")


def test_every_package_has_a_docstring() -> None:
    missing = [
        str(path.parent)
        for path, module in modules().items()
        if path.name == "__init__.py" and path.parts[0] != "migrations" and not ast.get_docstring(module)
    ]
    assert missing == []


def test_every_file_that_a_package_names_is_there() -> None:
    wrong = []
    for path, module in modules().items():
        if path.name != "__init__.py":
            continue
        for name in FILE.findall(ast.get_docstring(module) or ""):
            folder = (ROOT / path).parent
            if not any((place / name).exists() for place in (folder, folder.parent, ROOT)) and not list(
                folder.rglob(name)
            ):
                wrong.append(f"{path}: {name}")
    assert wrong == []
