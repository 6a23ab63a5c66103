"""Mutation test of the core modules and of the SQL: `make mutants`."""

import argparse
import json
import secrets
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from queue import SimpleQueue

from rich.console import Console

from switchyard.ledger.migrate import upgrade
from tests.mutants.change import Change
from tests.mutants.coverage_map import CoverageMap, measure
from tests.mutants.known import is_known, known, stale
from tests.mutants.plan import ROOT, Group, changes_of, drawn, groups
from tests.mutants.tree import Tree, copied
from tests.mutants.trial import Verdict, judge
from tests.parts import guardian, logs
from tests.parts.postgres import UNSAFE, Server, binaries

RESULT = ROOT / "results/mutants.json"
EXAMPLE = "example: python -m tests.mutants --seed 7 --sample 40 --module conductor/limits"
Results = list[tuple[Change, Verdict]]


def main() -> int:
    chosen = _parser().parse_args()
    console = Console(highlight=False, soft_wrap=True)
    logs.begin_session()
    seed = chosen.seed if chosen.seed is not None else secrets.randbelow(1_000_000)
    changes = _changes(chosen, seed)
    console.print(f"seed {seed}, {len(changes)} changes; Ctrl-C ends everything")
    results = Results()
    try:
        _run(console, changes, groups(chosen.module), chosen.jobs, results)
    except KeyboardInterrupt:
        console.print("stopped: all that was started has ended; what was tried until then:")
    finally:
        guardian.close()
    _report(console, results)
    for entry in stale(known()):
        console.print(
            f"no longer a change, remove it from harmless.toml: {entry.file}: {entry.line}", markup=False
        )
    RESULT.parent.mkdir(exist_ok=True)
    RESULT.write_text(
        json.dumps(
            {"seed": seed, **{v: [str(c) for c, each in results if each is v] for v in Verdict}}, indent=1
        )
    )
    return 0


def _changes(chosen: argparse.Namespace, seed: int) -> list[Change]:
    files = [file for group in groups(chosen.module) for file in group.files]
    if chosen.again:
        survived = set(json.loads(Path(chosen.again).read_text())["survived"])
        return [change for file in files for change in changes_of(file) if str(change) in survived]
    sql = [file for file in files if file.endswith(".sql")]
    wanted = {"python": sorted({*files} - {*sql}), "sql": sql}
    kinds = [chosen.only] if chosen.only else list(wanted)
    return [change for kind in kinds for change in drawn(wanted[kind], chosen.sample, seed)]


def _run(console: Console, changes: list[Change], chosen: list[Group], jobs: int, results: Results) -> None:
    """Try all changes; what becomes of each is added to `results` at once."""
    listed = known()
    with ExitStack() as stack:
        server = stack.enter_context(closing(Server(binaries("embedded"), UNSAFE)))
        server.start()
        upgrade(server.url())
        trees = SimpleQueue[Tree]()
        for _ in range(jobs):
            trees.put(stack.enter_context(copied()))
        pool = ThreadPoolExecutor(jobs)
        stack.callback(pool.shutdown, cancel_futures=True)

        def one(change: Change, tests: CoverageMap) -> None:
            tree = trees.get()
            try:
                verdict = judge(tree, change, tests, server.url())
            finally:
                trees.put(tree)
            if verdict is Verdict.SURVIVED:
                console.print(f"survived: {change}", markup=False)
            results.append((change, verdict))

        for group in chosen:
            mine = [change for change in changes if change.file in group.files]
            run = [change for change in mine if not is_known(change, listed)]
            results += [(change, Verdict.KNOWN) for change in mine if change not in run]
            if run:
                console.print(f"{group.name}: {len(run)} changes")
                tree = trees.get()
                tests = measure(tree, group, server.url())
                trees.put(tree)
                list(pool.map(one, run, [tests] * len(run)))


def _report(console: Console, results: Results) -> None:
    survived = [change for change, verdict in results if verdict is Verdict.SURVIVED]
    console.print("\nSurvivors" if survived else "\nNo change survived")
    for change in survived:
        console.print(f"{change}\n    {change.line_text}", markup=False)
    for name, is_sql in (("Python", False), ("SQL", True)):
        verdicts = [verdict for change, verdict in results if change.is_sql is is_sql]
        killed, lived = verdicts.count(Verdict.KILLED), verdicts.count(Verdict.SURVIVED)
        if killed + lived:
            left_out = f"{verdicts.count(Verdict.KNOWN)} known as harmless, {verdicts.count(Verdict.REFUSED)} refused by Postgres"
            console.print(
                f"{name}: {killed} of {killed + lived} killed, score {killed / (killed + lived):.3f} ({left_out})"
            )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__, epilog=EXAMPLE)
    parser.add_argument("--seed", type=int, help="the sample follows from it; without it, any")
    parser.add_argument(
        "--sample", type=int, default=100, help="changes of Python files, and as many of SQL files"
    )
    parser.add_argument("--module", help="only files whose path contains this: conductor/limits, claim.sql")
    parser.add_argument("--only", choices=["python", "sql"], help="only files of this kind")
    parser.add_argument("--jobs", type=int, default=1, help="changes tried at the same time")
    parser.add_argument(
        "--again", metavar="FILE", help="only the survivors of an earlier run: results/mutants.json"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
