"""Which tests execute a line, and how long each takes: one run of a group's tests, unchanged."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from coverage import CoverageData

from tests.mutants.change import Change
from tests.mutants.plan import ROOT, Group
from tests.mutants.tree import Tree

LONGEST = 1800.0


@dataclass(frozen=True)
class Tests:
    """Tests to run, the shortest first, and how long they take together."""

    names: tuple[str, ...]
    seconds: float


class CoverageMap:
    """Tests without their parameters, by the lines that they execute."""

    def __init__(self, seconds: Mapping[str, float], executed: dict[str, dict[int, list[str]]]) -> None:
        self._seconds = seconds
        self._executed = executed

    def tests_of(self, change: Change) -> Tests:
        """Those that execute a line of the change; all of the file's if a line runs at import."""
        lines = self._executed.get(change.file, {})
        contexts = {c for line in range(change.first_line, change.last_line + 1) for c in lines.get(line, ())}
        if "" in contexts:
            contexts |= {context for each in lines.values() for context in each}
        return self._chosen(_test(context) for context in contexts if context)

    def all_tests(self, change: Change) -> Tests:
        """All, those in files that name the changed SQL function first: they are the likeliest to notice."""
        naming = {file: change.function in (ROOT / file).read_text() for file in map(_file, self._seconds)}
        chosen = self._chosen(self._seconds)
        return Tests(tuple(sorted(chosen.names, key=lambda name: not naming[_file(name)])), chosen.seconds)

    def _chosen(self, names: Iterable[str]) -> Tests:
        known = sorted(
            {name for name in names if name in self._seconds}, key=lambda name: (self._seconds[name], name)
        )
        return Tests(tuple(known), sum(self._seconds[name] for name in known))


def measure(tree: Tree, group: Group, postgres: str) -> CoverageMap:
    """Run the group's tests once; those that do not pass are never used."""
    sources = sorted({file.partition("/")[0] for file in group.files})
    sql = group.files[0].endswith(".sql")
    switches = (
        [] if sql else ["--cov-context=test", "--cov-report=", *(f"--cov={source}" for source in sources)]
    )
    words = [
        "--maxfail=1000",
        "-p",
        "tests.mutants.durations",
        f"--postgres={postgres}",
        *switches,
        *group.tests,
    ]
    code = tree.pytest(words, LONGEST)
    if code not in (0, 1):
        raise RuntimeError(f"{group.name}: pytest ended with {code}\n{tree.output}")
    seconds = defaultdict[str, float](float)
    for test, taken in json.loads(tree.durations.read_text()).items():
        seconds[_test(test)] += taken
    executed = {} if sql else _executed(tree.folder, group)
    return CoverageMap(seconds, executed)


def _executed(folder: Path, group: Group) -> dict[str, dict[int, list[str]]]:
    coverage = CoverageData(str(folder / ".coverage"))
    coverage.read()
    return {file: coverage.contexts_by_lineno(str(folder / file)) for file in group.files}


def _file(test: str) -> str:
    return test.partition("::")[0]


def _test(context: str) -> str:
    """`tests/x.py::test_y[1]|run` is `tests/x.py::test_y`."""
    return context.partition("|")[0].partition("[")[0]
