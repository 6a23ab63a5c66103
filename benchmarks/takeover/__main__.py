"""R3: from the SIGKILL of a conductor to the dispatch of everything it had claimed by another one.

    python -m benchmarks.takeover [--kills 10] [--claims 5]

Two spawned conductors serve a webhook whose answers are held back. One of them claims everything (the other is
stopped meanwhile), and is killed once the other has looked and sleeps again: in turns armed, that is on the
bell, which a death does not ring, and napping. The clock stops when the last claim has arrived a second time.
"""

import argparse
import random
import signal
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from benchmarks.report import Figure, publish
from benchmarks.server import fresh, server
from conductor.worker.wakeup import NAP
from switchyard.ledger import migrate
from tests.acceptance.conductor.counting import Counting, counting
from tests.deployment.deployment import Deployment
from tests.deployment.program import Program
from tests.parts.database import Database
from tests.waiting import until

ARMED = (
    "select w.pid from pg_locks l join switchyard.worker w on w.backend_pid = l.pid and w.ended_at is null"
    " where l.locktype = 'advisory' and l.classid = 1937204078 and l.mode = 'ExclusiveLock' and l.granted"
)
SERVING = "select count(*) from switchyard.worker where pid = any(%s) and ended_at is null"
SUBMIT = "insert into switchyard.action (action_name) select 'webhook' from generate_series(1, %s)"
OPEN = "select count(*) from switchyard.yard"
ASLEEP_AFTER = 1.0  # longer than a nap: the other has looked, found everything taken, and sleeps


def config(counts: Counting, claims: int) -> dict[str, Any]:
    """One webhook to the counting server, with a slot for each claim."""
    request = {"url": counts.url + "/{{ action.uuid }}"}
    webhook = {
        "type": "http",
        "request": request,
        "allow_networks": ["127.0.0.0/8"],
        "timeout": "60s",
        "concurrency": claims,
    }
    patient = {"min_lost": 10_000}  # or that many deaths would pause the name
    return {"actions": {"webhook": webhook}, "conductor": {"health": {"port": None}}, "workers": patient}


class Pair:
    """Two conductors, of which one is killed, and replaced, again and again."""

    def __init__(self, deployment: Deployment, counts: Counting, claims: int) -> None:
        self._deployment = deployment
        self._counts = counts
        self._claims = claims
        self._members = [self._one_more(), self._one_more()]

    def kill(self, *, armed: bool) -> list[float]:
        """Seconds from the kill to each dispatch of its claims by the one that is left, armed or not."""
        victim, other = self._roles(other_armed=armed)
        claims = self._claims
        self._counts.gate.clear()
        before = len(self._counts.times)
        other.send(signal.SIGSTOP)
        self._deployment.database.execute(SUBMIT, claims)
        until(lambda: len(self._counts.times) == before + claims)
        other.send(signal.SIGCONT)
        time.sleep(ASLEEP_AFTER + random.uniform(0, NAP))  # at any moment of its sleep
        assert (self._armed() == other.pid) == armed, "the bell changed hands"
        began = time.monotonic()
        victim.kill()
        until(lambda: len(self._counts.times) == before + 2 * claims, 30)
        self._counts.gate.set()
        until(lambda: self._deployment.database.execute(OPEN) == [(0,)], 30)
        self._members = [other, self._one_more()]
        return [at - began for at in self._counts.times[before + claims :]]

    def _roles(self, *, other_armed: bool) -> tuple[Program, Program]:
        pids = [member.pid for member in self._members]
        until(lambda: self._deployment.database.execute(SERVING, pids) == [(2,)], 60)
        until(lambda: self._armed() in pids, 30)
        time.sleep(ASLEEP_AFTER)  # stopped in the look that follows the arming, it would hold what it found
        first, second = self._members
        return (first, second) if (self._armed() == second.pid) == other_armed else (second, first)

    def _one_more(self) -> Program:
        return self._deployment.add_conductor(config(self._counts, self._claims))

    def _armed(self) -> int | None:
        return next((pid for (pid,) in self._deployment.database.execute(ARMED)), None)


def tell(kind: str, last: Sequence[float]) -> list[Figure]:
    """How long it took until the last claim was dispatched again."""
    print(f"{kind}: {', '.join(f'{seconds:.2f}' for seconds in sorted(last))} s")
    return [
        Figure(f"{kind}: median", statistics.median(last), "s"),
        Figure(f"{kind}: longest", max(last), "s", at_most=1.0),
    ]


def main() -> None:
    """Kill, measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=10, help="of each kind")
    parser.add_argument(
        "--claims",
        type=int,
        default=5,
        help="that the killed one holds; 8 at most, for more wake it for good",
    )
    options = parser.parse_args()
    last: dict[str, list[float]] = {"peer armed": [], "peer napping": []}
    with server() as on, counting() as counts, tempfile.TemporaryDirectory() as folder:
        url = fresh(on)
        migrate.upgrade(url)
        with closing(Deployment(Database("bench", url), Path(folder))) as deployment:
            pair = Pair(deployment, counts, options.claims)
            for _ in range(options.kills):
                for kind, seconds in last.items():
                    seconds.append(max(pair.kill(armed=kind == "peer armed")))
    publish("R3 takeover", [figure for kind, seconds in last.items() for figure in tell(kind, seconds)])


if __name__ == "__main__":
    main()
