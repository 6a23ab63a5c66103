"""The mutation test itself: what it changes, what it leaves alone, and which changes count as harmless."""

import pytest

from tests.mutants.change import Change
from tests.mutants.known import Known, known
from tests.mutants.plan import ROOT, drawn, groups
from tests.mutants.python_changes import python_changes
from tests.mutants.sql_changes import sql_changes


def texts(changes: list[Change]) -> set[str]:
    return {change.text for change in changes}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a < b", {"< -> <=", "< -> >="}),
        ("x = (a) == (b)", {") == ( -> ) != ("}),
        ("x = a is None", {"is -> is not"}),
        ("x = a and not b", {"a and not b -> ((a) or (not b))", "not b -> (b)"}),
        ("x = 5", {"5 -> 6", "5 -> 4"}),
        ("x = True", {"True -> False"}),
        ("x = min(a, b)", {"min -> max"}),
        ("x = a - b", {"a - b -> ((a) + (b))"}),
        ("x = [A, B]", {"[A, B] -> [B]", "[A, B] -> [A]"}),
        ("call(x)", {"call(x) -> pass"}),
        ("def f():\n    return x", {"x -> None"}),
        ("def f():\n    if x:\n        return", {"if x: return -> pass"}),
    ],
)
def test_changes_of_python(source: str, expected: set[str]) -> None:
    found = python_changes("f.py", source.encode())
    assert texts(found) == expected
    for change in found:
        compile(change.apply(source.encode()), "f.py", "exec")


@pytest.mark.parametrize(
    "source",
    [
        '"""Text 5."""',
        "log.info('x', n=5)",
        "@cached(5)\ndef f(x: int) -> None: ...",
        "x = f'{5}'",
        "__all__ = ['a', 'b']",
    ],
)
def test_texts_log_lines_and_decorators_are_left_alone(source: str) -> None:
    assert python_changes("f.py", source.encode()) == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("select 1 where a >= b;", {">= -> >", ">= -> <", "a >= b -> true"}),
        (
            "select where a and (b or c);",
            {"a -> true", "(b or c) -> true", "b -> false", "c -> false", "and -> or"},
        ),
        ("select where a between x and y;", {"a between x and y -> true"}),
        ("select where s in ('A', 'B');", {"'A', 'B' -> 'B'", "'A', 'B' -> 'A'"}),
        ("select where a is null;", {"a is null -> true"}),
        (
            "select from t order by a limit 5;",
            {"order by a -> (deleted)", "limit 5 -> (deleted)", "5 -> 6", "5 -> 4"},
        ),
        ("begin perform f(x); end", {"perform f(x); -> null;"}),
        ("begin return x; end", {"x -> null"}),
        ("grant select on t to r;", set()),
        ("comment on table t is 'at least 5';\n", set()),
        ("-- where a > 5\nselect x;", set()),
    ],
)
def test_changes_of_sql(source: str, expected: set[str]) -> None:
    assert expected <= texts(sql_changes("f.sql", source.encode()))
    if not expected and not source.startswith("grant"):
        assert sql_changes("f.sql", source.encode()) == []


def test_a_change_names_its_place() -> None:
    (change, _) = python_changes("f.py", b"\nx = a < b\n")
    assert str(change) == "f.py:2: < -> <="
    assert change.line_text == "x = a < b"
    assert change.apply(b"\nx = a < b\n") == b"\nx = a <= b\n"


def test_the_same_seed_draws_the_same_changes() -> None:
    files = ["switchyard/backoff.py", "migrations/current/bell.sql"]
    assert drawn(files, 10, 7) == drawn(reversed(files), 10, 7)
    assert drawn(files, 10, 7) != drawn(files, 10, 8)
    assert len(drawn(files, 10, 7)) == 10


def test_every_group_has_files_and_tests_that_exist() -> None:
    for group in groups():
        assert group.files
        assert all((ROOT / test).exists() for test in group.tests), group.name
    listed = [file for group in groups() for file in group.files]
    assert len(listed) == len(set(listed)), "each file is judged by one group"


def test_every_harmless_change_has_a_file_and_a_reason() -> None:
    for entry in known():
        assert (ROOT / entry.file).is_file()
        assert len(entry.reason) > 10


def test_an_entry_covers_one_change_or_all_of_its_line() -> None:
    smaller, larger = python_changes("f.py", b"x = a < b\n")
    assert Known("f.py", "x = a < b", "why").covers(smaller)
    assert not Known("f.py", "x = a < b", "why", larger.text).covers(smaller)
    assert not Known("f.py", "y = a < b", "why").covers(smaller)
