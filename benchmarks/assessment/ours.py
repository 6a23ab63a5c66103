"""Switchyard's side of the comparison, in its own process: all steps of a nutrient assessment, warm."""

import json
import sys
import threading
import time
from pathlib import Path

from assessment import editions
from assessment.bundle.bundle import open_bundle
from assessment.compute import compute
from assessment.intake.upload import nutrient_sites
from assessment.spec import JobSpec


class Peak(threading.Thread):
    """The most anonymous memory seen, in MiB."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.mib = 0.0
        self.done = threading.Event()

    def run(self) -> None:
        while not self.done.wait(0.005):
            self.look()

    def look(self) -> None:
        status = Path("/proc/self/status").read_text()
        anonymous = next(line for line in status.splitlines() if line.startswith("RssAnon"))
        self.mib = max(self.mib, int(anonymous.split()[1]) / 1024)


def measure(bundle: str, many: str, one: str) -> dict[str, object]:
    job, opened = JobSpec("nutrient", editions.load()), open_bundle(bundle)
    peak = Peak()
    peak.start()
    result: dict[str, object] = {}
    for name, path, times in (("many", many, 15), ("one", one, 30)):
        sites = nutrient_sites(Path(path))
        compute(job, sites, opened)
        walls, cpus = [], []
        for _ in range(times):
            wall, cpu = time.perf_counter(), time.process_time()
            compute(job, sites, opened)
            walls.append(time.perf_counter() - wall)
            cpus.append(time.process_time() - cpu)
        result[name] = {
            "sites": len(sites),
            "seconds": sorted(walls)[times // 2],
            "cpu": sorted(cpus)[times // 2],
        }
        result[name] |= {"best": min(walls)}  # type: ignore[operator]  # a dict, one line above
    peak.done.set()
    peak.look()
    return {**result, "anonymous_mib": round(peak.mib)}


if __name__ == "__main__":
    print(json.dumps(measure(*sys.argv[1:])))
