"""Workers under faults, on ElasticMQ: every job's end once, and health while all processors are busy.

    python -m benchmarks.assessment.faults [--jobs 200] [--kills 25] [--checks 2000]

Jobs are of the tiny workload: what is measured is the base, not the arithmetic.
"""

import argparse
import random
import statistics
import tempfile
import time
from contextlib import closing
from pathlib import Path

from tests.integration.assessment.work.station import Station, Worker
from tests.parts import elasticmq
from tests.parts.aws import AwsPart
from tests.waiting import until


def kills(part: AwsPart, folder: Path, jobs: int, most: int, seed: int = 6) -> None:
    """Two workers, one of them killed every second or so and replaced."""
    chance = random.Random(seed)
    settings = {"MAX_ATTEMPTS": "100", "SQS_VISIBILITY_TIMEOUT": "3"}
    with closing(Station(part, folder)) as station:
        sent = [station.send(do="echo", seconds=chance.uniform(0, 0.3)) for _ in range(jobs)]
        began = time.monotonic()
        workers = [station.spawn(**settings) for _ in range(2)]
        killed = 0
        while len({end["action_uuid"] for end in station.ends()}) < jobs:
            time.sleep(chance.uniform(0.2, 1.5))
            if killed < most:
                killed += _replace(workers, station, chance, settings)
            assert time.monotonic() - began < 300, "jobs were lost"
        until(station.empty, 30)
        told = [end["action_uuid"] for end in station.ends()]
        seconds = time.monotonic() - began
    print(f"{jobs} jobs, {killed} SIGKILLs, {seconds:.0f} s: {len(told)} ends, {len(set(told))} different")
    assert sorted(told) == sorted(sent), "an end was reported twice, or not at all"


def _replace(workers: list[Worker], station: Station, chance: random.Random, settings: dict[str, str]) -> int:
    victim = chance.randrange(len(workers))
    if workers[victim].health()[0] == 0:
        return 0  # not up yet: nothing to interrupt
    workers[victim] = station.replace(workers[victim], **settings)
    return 1


def health(part: AwsPart, folder: Path, checks: int) -> None:
    """How fast /health answers while two jobs compute."""
    with closing(Station(part, folder)) as station:
        jobs = [station.send(do="spin", seconds=600) for _ in range(2)]
        workers = [station.spawn(SQS_VISIBILITY_TIMEOUT="60") for _ in jobs]
        until(lambda: all(station.statuses(uuid) for uuid in jobs), 60)
        taken = []
        for _ in range(checks // 2):
            for worker in workers:
                began = time.perf_counter()
                assert worker.health()[0] == 200
                taken.append((time.perf_counter() - began) * 1000)
            time.sleep(0.005)
    taken.sort()
    tail = taken[int(len(taken) * 0.99)]
    print(
        f"{len(taken)} checks: median {statistics.median(taken):.1f} ms, p99 {tail:.1f} ms, worst {taken[-1]:.1f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=200)
    parser.add_argument("--kills", type=int, default=25)
    parser.add_argument("--checks", type=int, default=2000)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, closing(elasticmq.start()) as part:
        for name in ("kills", "health"):
            (Path(folder) / name).mkdir()
        health(part, Path(folder) / "health", chosen.checks)
        kills(part, Path(folder) / "kills", chosen.jobs, chosen.kills)


if __name__ == "__main__":
    main()
