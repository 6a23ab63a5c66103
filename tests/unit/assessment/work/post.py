"""Queues in memory, whose calls can be told to fail, and a worker around them."""

import time
from collections.abc import Callable
from typing import Any

from assessment.work.context import Context
from assessment.work.deadline import Stop
from assessment.work.estimate import Estimates
from assessment.work.job import Job
from assessment.work.keeper import Keeper
from assessment.work.outcome import Done, Outcome
from assessment.work.pipeline import Pipeline
from assessment.work.policy import Workload
from assessment.work.settings import Settings
from assessment.work.settle import Settler
from assessment.work.state import State
from assessment.work.status import Reporter
from assessment.work.worker import Worker
from switchyard.aws.queue import Message
from switchyard.store import Store

Call = tuple[Any, ...]


class Post:
    """Gives out its messages; `failing` names calls and what they raise."""

    def __init__(self, *waiting: Message, **failing: Exception) -> None:
        self.name, self.url = "post", "memory://post"
        self.waiting, self.failing = list(waiting), failing
        self.calls: list[Call] = []
        self.when_empty: Callable[[], None] = lambda: None

    def find(self) -> None:
        self._call("find")

    def receive(self, _wait: int, _visibility: int) -> Message | None:
        self._call("receive")
        if not self.waiting:
            self.when_empty()
            return None
        return self.waiting.pop(0)

    def hide(self, message: Message, seconds: int) -> bool:
        self._call("hide", message.id, seconds)
        return True

    def delete(self, message: Message) -> bool:
        self._call("delete", message.id)
        return True

    def send(self, body: str, _correlation_id: str | None, _group: str, _once: str) -> None:
        self._call("send", body)

    def _call(self, *call: Any) -> None:
        self.calls.append(call)
        if call[0] in self.failing:
            raise self.failing[call[0]]


def done(_job: Job, _context: Context) -> Outcome:
    return Done("output.json")


def worker(
    store: Store, jobs: Post, status: Post | None, run: Callable[[Job, Context], Outcome] = done
) -> Worker:
    state, stop = State(), Stop(30.0, time.monotonic)
    jobs.when_empty = stop.ask
    workload = Workload(run=run, kind="tiny")
    reporter = Reporter(status, "w-1", "tiny")  # type: ignore[arg-type]  # as much of a queue as it needs
    keeper = Keeper(
        jobs,  # type: ignore[arg-type]
        60,
        hanging=list,
        beat=lambda: reporter.of_itself("beat", state),
    )
    settler = Settler(workload, jobs, lambda _: jobs, store, state, 3, 120)  # type: ignore[arg-type, return-value]
    pipeline = Pipeline(workload, jobs, store, reporter, keeper, settler, Estimates(), state, stop, 3)  # type: ignore[arg-type]
    settings = Settings(store=store.url, pause=0.0, fatal_hold=0.0)
    made = Worker(settings, state, stop, jobs, reporter, keeper, pipeline)  # type: ignore[arg-type]
    keeper.overrun = made.overrun
    return made
