"""The fault campaign as a program; `make faults` starts it."""

import argparse
import secrets
import sys
import time

from rich.console import Console

from tests.faults import report
from tests.faults.bystanders import disturbed
from tests.faults.campaign import Round, campaign
from tests.faults.evidence import show_events
from tests.faults.farewell import farewell
from tests.faults.yard import yard
from tests.parts import guardian, logs

EXAMPLE = "example: python -m tests.faults --seed 7 --faults 200"


def main() -> int:
    chosen = _parser().parse_args()
    console = Console()
    logs.begin_session()
    seed = chosen.seed if chosen.seed is not None else secrets.randbelow(1_000_000)
    tested = report.commit()
    console.print(f"seed {seed}, {chosen.faults} faults, commit {tested}; Ctrl-C ends everything")
    try:
        run = _run(console, chosen, seed, tested)
    except KeyboardInterrupt:
        console.print("stopped: all that was started has ended")
        return 130
    finally:
        guardian.close()
    if chosen.log:
        report.append(run)
    print(report.as_json(run))
    return 1 if run["violations"] else 0


def _run(console: Console, chosen: argparse.Namespace, seed: int, tested: str) -> report.Entry:
    began, rounds = time.monotonic(), list[Round]()
    with yard() as everything:
        for done in campaign(everything, seed, chosen.faults, chosen.a_round, chosen.load):
            rounds.append(done)
            report.show_round(console, done, sum(each.hits.total() for each in rounds))
            if time.monotonic() - began > 60 * chosen.minutes:
                console.print(f"{chosen.minutes:g} minutes are over")
                break
        show_events(console, everything, report.found(rounds))
        left = [*([] if report.found(rounds) else disturbed(everything, seed)), *farewell(everything)]
    report.show(console, rounds, everything.missing, left)
    return report.entry(tested, seed, rounds, left, time.monotonic() - began)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__, epilog=EXAMPLE)
    parser.add_argument("--seed", type=int, help="the plan and the load follow from it; without it, any")
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument(
        "--a-round", type=int, default=40, help="faults before everything is healed and checked"
    )
    parser.add_argument("--load", type=int, default=300, help="actions submitted in a round")
    parser.add_argument("--minutes", type=float, default=60, help="begin no round after so long")
    parser.add_argument("--log", action="store_true", help=f"add the run to {report.LOG.name}")
    return parser


if __name__ == "__main__":
    sys.exit(main())
