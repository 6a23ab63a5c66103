"""The product's modules, parsed."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("switchyard", "conductor", "caboose", "assessment", "signalbox")


@cache
def modules() -> dict[Path, ast.Module]:
    """Every module of the product by its path below the repository."""
    paths = [path for package in (*PACKAGES, "migrations") for path in sorted((ROOT / package).rglob("*.py"))]
    return {path.relative_to(ROOT): ast.parse(path.read_text()) for path in paths}
