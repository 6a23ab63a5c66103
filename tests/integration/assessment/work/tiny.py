"""A second workload on the worker's base: each job says what happens to it. Run as a program."""

import ctypes
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

from assessment.work.configured import settings_of
from assessment.work.context import Context
from assessment.work.job import Job
from assessment.work.outcome import Done, Outcome
from assessment.work.policy import Workload
from assessment.work.start import work
from switchyard.errors import BadInput, Transient


def echo(job: Job, context: Context) -> Outcome:
    time.sleep(float(job.content.get("seconds", 0)))
    return _result(job, context)


def steps(job: Job, context: Context) -> Outcome:
    for step in range(1000):
        context.progress(step / 1000, f"step {step}")
        time.sleep(0.05)
    return _result(job, context)


def chunks(job: Job, context: Context) -> Outcome:
    """100 chunks; the one named `pause_at` waits for a file, before it is computed."""
    kept = context.chunks()
    for number in range(100):
        context.progress(number / 100, f"chunk {number}")
        if kept.load(f"{number}.json") is None:
            if number == job.content.get("pause_at") and context.job.delivery == 1:
                time.sleep(60)
            kept.save(f"{number}.json", str(os.getpid()).encode())
    return _result(job, context)


def spin(job: Job, context: Context) -> Outcome:
    ends = time.monotonic() + job.content["seconds"]
    while time.monotonic() < ends:
        context.progress(0.0, "busy")
        sum(k * k for k in range(50_000))
    return _result(job, context)


def hang(job: Job, context: Context) -> Outcome:
    time.sleep(job.content.get("seconds", 60))
    return _result(job, context)


def crash(job: Job, context: Context) -> Outcome:
    ctypes.string_at(0)
    return Done()


def fail(job: Job, context: Context) -> Outcome:
    raise Transient("the weather")


def surprise(job: Job, context: Context) -> Outcome:
    raise ZeroDivisionError


def refuse(job: Job, context: Context) -> Outcome:
    raise BadInput("there is no such site")


KNOWN: dict[str, Callable[[Job, Context], Outcome]] = {
    made.__name__: made for made in (echo, steps, chunks, spin, hang, crash, fail, surprise, refuse)
}


def run(job: Job, context: Context) -> Outcome:
    return KNOWN[job.content["do"]](job, context)


def _result(job: Job, context: Context) -> Outcome:
    context.store.put(f"{job.output}/output.json", b"{}")
    return Done(f"{job.output}/output.json")


def main() -> None:
    config = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    following = os.environ.get("TINY_NEXT")

    def done_to(_job: Job, outcome: Outcome) -> str | None:
        return following if isinstance(outcome, Done) else None

    workload = Workload(run=run, kind="tiny", service="tiny-worker", hand_over=done_to)
    sys.exit(work(settings_of(config, os.environ), workload))


if __name__ == "__main__":
    main()
