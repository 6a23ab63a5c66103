"""Plain English: words that readers of other projects would not expect are found here, and not again in a review."""

import ast
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

from tests.guards.sources import ROOT, modules

DIALECT = re.compile(
    r"\banew\b|\bgoodbye\b"  # again; close
    r"|\b(?:be|was|were) had\b"  # read, claimed, requested
    r"|\b(?:not|has|have|is|are) beaten\b"  # has sent a heartbeat
    r"|\btold\b(?! (?:apart|to)\b)"  # reported, recorded
    r"|\bstands\b(?! (?:by|for|still)\b)"  # is
    r"|(?<!here )\b(?:is|are) no (?!longer\b|such\b|more\b|less\b|way\b|need\b)[a-z]+"  # is not a
    r"|\b(?:one|a) (?:connection|event|file|folder|key|line|lock|number|row|task) an? (?!second\b|minute\b|day\b)[a-z]+"  # per
)
NAMED = re.compile(
    r"^test_.*_(?:told|stands(?!_by)|said|anew|whoever|heard?|hears|learns?|had_its|by_now|be_had|strangers?|speaks?)(?:_|\b)"
    r"|^test_.*_(?:is|are)_no_(?!longer|such|more)"
)
# What reads well all the same.
EXCEPTIONS: set[tuple[str, str]] = set()


def test_texts_and_comments_are_in_plain_english() -> None:
    found = {
        f"{path}:{line}: {text}"
        for path in [*modules(), *_below("tests", "benchmarks", "tools")]
        for line, written in _texts(path)
        for text in DIALECT.findall(written)
        if (str(path), text) not in EXCEPTIONS
    }
    assert found == set(), "write: reported, recorded, is not a …, per …; or add it to EXCEPTIONS"


def test_pages_and_sql_are_in_plain_english() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    pages += [*(ROOT / "migrations").rglob("*.sql"), *(ROOT / "switchyard").rglob("*.sql")]
    found = {
        f"{page.relative_to(ROOT)}:{number}: {text}"
        for page in pages
        for number, line in enumerate(page.read_text().splitlines(), 1)
        for text in DIALECT.findall(line)
        if (str(page.relative_to(ROOT)), text) not in EXCEPTIONS
    }
    assert found == set(), "write: reported, recorded, is not a …, per …; or add it to EXCEPTIONS"


def test_tests_are_named_in_plain_english() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {node.name}"
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and NAMED.search(node.name)
    }
    assert found == set(), "a test's name says what happens: is_reported, is_recorded, is_not_a"


def _below(*folders: str) -> list[Path]:
    paths = [path.relative_to(ROOT) for folder in folders for path in (ROOT / folder).rglob("*.py")]
    return [path for path in paths if path != Path(__file__).relative_to(ROOT)]


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of each text and comment of a module."""
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
    with (ROOT / path).open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string
