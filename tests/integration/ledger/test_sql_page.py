"""docs/sql.md names the columns and functions that there are."""

import re
from pathlib import Path

import pytest

from tests.parts.database import Database

PAGE = (Path(__file__).parents[3] / "docs" / "sql.md").read_text()
RELATIONS = re.findall(r"^### (\w+)$", PAGE, re.MULTILINE)
FUNCTIONS = re.findall(r"^\| `(\w+)\((.*?)\)` \|", PAGE, re.MULTILINE)


@pytest.mark.parametrize("relation", RELATIONS)
def test_every_column_is_on_the_page(database: Database, relation: str) -> None:
    section = PAGE.split(f"### {relation}\n")[1].split("\n## ")[0].split("\n### ")[0]
    cells = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    columns = database.execute(
        "select column_name from information_schema.columns where table_schema = 'switchyard' and table_name = %s",
        relation,
    )
    assert {name for cell in cells for name in re.findall(r"`(\w+)`", cell)} == {name for (name,) in columns}


@pytest.mark.parametrize(("function", "arguments"), FUNCTIONS)
def test_every_function_is_there(database: Database, function: str, arguments: str) -> None:
    found = database.execute(
        "select proargnames from pg_proc where pronamespace = 'switchyard'::regnamespace and proname = %s",
        function,
    )
    assert len(found) == 1
    for name in re.findall(r"\w+_\w+", arguments):
        assert name in found[0][0]
