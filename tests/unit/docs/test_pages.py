"""What the pages point at is there: files, tests, sections, decisions."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    ROOT / "SECURITY.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
DECISIONS = sorted((ROOT / "docs" / "adr").glob("[0-9]*.md"))
LINK = re.compile(r"\[[^\]]*\]\((?!https?:)([^)]+)\)")
# A path of the repository, written as code.
PATH = re.compile(
    r"`((?:tests|benchmarks|config|docs|switchyard|conductor|caboose|assessment|migrations)/[\w./-]+)`"
)


def pointers(page: Path) -> Iterator[Path]:
    text = page.read_text()
    for target in LINK.findall(text):
        yield page.parent / target.split("#")[0] if not target.startswith("#") else page
    for path in PATH.findall(text):
        yield ROOT / path


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_points_at_is_there(page: Path) -> None:
    assert [str(path) for path in pointers(page) if not path.exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_sections_that_are_linked_exist(page: Path) -> None:
    for target in LINK.findall(page.read_text()):
        path, _, section = target.partition("#")
        if section:
            linked = (page.parent / path if path else page).read_text()
            anchors = {
                re.sub(r"[^\w\- ]", "", title).strip().lower().replace(" ", "-")
                for title in re.findall(r"^#+ (.*)$", linked, re.MULTILINE)
            }
            assert section in anchors, f"{page.name}: {target}"


def test_every_guarantee_names_a_test() -> None:
    page = (ROOT / "docs" / "guarantees.md").read_text()
    rows = [line for line in page.splitlines() if line.startswith("| ")][2:]
    assert len(rows) > 8
    for row in rows:
        proofs = re.findall(r"`(tests/[\w./-]+)`", row)
        assert proofs, row
        for proof in proofs:
            files = [ROOT / proof] if proof.endswith(".py") else list((ROOT / proof).rglob("test_*.py"))
            assert any("def test_" in file.read_text() for file in files), proof


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_has_a_conflict_marker(page: Path) -> None:
    assert not re.search(r"^(<<<<<<<|>>>>>>>) ", page.read_text(), re.MULTILINE)


def test_every_decision_is_in_the_index_and_has_a_number_of_its_own() -> None:
    index = (ROOT / "docs" / "adr" / "README.md").read_text()
    assert [path.name for path in DECISIONS if f"]({path.name})" not in index] == [], (
        "add a line to docs/adr/README.md"
    )
    numbers = [path.name[:4] for path in DECISIONS]
    assert len(set(numbers)) == len(numbers)


def test_every_page_can_be_reached_from_the_readme() -> None:
    seen: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop().resolve()
        if page in seen or page.suffix != ".md" or not page.exists():
            continue
        seen.add(page)
        waiting += [page.parent / target.split("#")[0] for target in LINK.findall(page.read_text())]
    assert [page.name for page in PAGES if page not in seen] == []


TASKS = (
    "change the retry formula",
    "add a handler",
    "add a source",
    "add a column to `thread`",
    "add a command",
    "change what a breaker matches",
    "add a configuration key",
    "add a migration",
    "add a test with a real component",
)


@pytest.mark.parametrize("task", TASKS)
def test_the_code_map_names_files_for_each_task(task: str) -> None:
    section = (ROOT / "docs" / "code-map.md").read_text().split("## Where do I …?")[1]
    (answer,) = re.findall(rf"^\| {re.escape(task)} \| (.*) \|$", section, re.MULTILINE)
    assert PATH.findall(answer)


def test_every_file_of_the_code_map_exists() -> None:
    named = re.findall(r"`([\w.-]+/[\w./-]*|[\w-]+\.\w+)`", (ROOT / "docs" / "code-map.md").read_text())
    assert len(named) > 80
    bare = {
        "source.py",
        "model.py",
        "__init__.py",
        "sql/",
        "current/",
        "input.json",
    }  # explained beside their folder
    assert [
        path
        for path in named
        if not (path in bare or (ROOT / path).exists() or (ROOT / "tests" / path).exists())
    ] == []


ISOLATION = (ROOT / "docs" / "isolation.md").read_text()


@pytest.mark.parametrize(
    "row", [line for line in ISOLATION.splitlines() if "`test_" in line], ids=lambda row: row[2:40]
)
def test_every_test_that_the_isolation_page_names_is_there(row: str) -> None:
    proofs = re.findall(r"((?:`test_\w+`(?:, )?)+) in `(tests/[\w/]+\.py)`", row)
    assert proofs
    for names, file in proofs:
        source = (ROOT / file).read_text()
        assert [name for name in re.findall(r"test_\w+", names) if f"def {name}(" not in source] == []


def test_every_line_of_the_isolation_page_names_a_test() -> None:
    rows = [line for line in ISOLATION.splitlines() if line.startswith("| ")]
    heads = [row for row in rows if row.startswith(("| cause |", "| --- |"))]
    assert len([row for row in rows if "`test_" in row]) == len(rows) - len(heads)


def test_the_log_lines_on_the_page_of_conductor_are_logged() -> None:
    section = (ROOT / "docs" / "conductor.md").read_text().split("| log line | meaning |")[1].split("\n\n")[0]
    quoted = re.findall(r"^\| `([^`…]+)", section, re.MULTILINE)
    folders = (ROOT / "conductor", ROOT / "switchyard" / "process")
    code = "".join(file.read_text() for folder in folders for file in folder.rglob("*.py"))
    assert len(quoted) > 5
    assert [line for line in quoted if f'"{line}' not in code] == []
