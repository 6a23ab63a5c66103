"""Whether the tests notice one change."""

from enum import StrEnum

import psycopg

from tests.mutants.change import Change
from tests.mutants.coverage_map import CoverageMap
from tests.mutants.tree import Tree
from tests.mutants.warm import TIMED_OUT

_TESTS_FAILED, _COLLECTION_FAILED = 1, 2
_WORDS_AT_ONCE = 400


class Verdict(StrEnum):
    KILLED = "killed"
    SURVIVED = "survived"
    REFUSED = "refused"  # Postgres does not accept the changed file
    KNOWN = "known"


def judge(tree: Tree, change: Change, tests: CoverageMap, postgres: str) -> Verdict:
    """Run the tests that may notice the change."""
    with tree.changed(change):
        if change.is_sql and not _accepted(tree, postgres):
            return Verdict.REFUSED
        chosen = tests.all_tests(change) if change.is_sql else tests.tests_of(change)
        limit = 30 + 5 * chosen.seconds
        names = chosen.names
        while names:
            code = tree.pytest([f"--postgres={postgres}", *names[:_WORDS_AT_ONCE]], limit)
            if code in (_TESTS_FAILED, _COLLECTION_FAILED, TIMED_OUT):
                return Verdict.KILLED
            if code != 0:
                raise RuntimeError(f"{change}: pytest ended with {code}\n{tree.output}")
            names = names[_WORDS_AT_ONCE:]
    return Verdict.SURVIVED


def _accepted(tree: Tree, postgres: str) -> bool:
    """Whether the changed functions can be created in a migrated database; nothing is left there."""
    files = sorted(
        (tree.folder / "migrations/current").glob("*.sql"),
        key=lambda file: (file.name == "grants.sql", file.name),
    )
    with psycopg.connect(postgres) as connection:
        try:
            for file in files:
                connection.execute(file.read_bytes())
        except psycopg.Error:
            return False
        finally:
            connection.rollback()
    return True
