"""A seeded submitter: it remembers what it asked for, and asks again until it has an answer.

A commit whose answer was lost may have happened; the idempotency key makes asking again safe. So whatever the
submitter was given an id for exists once, and it can say afterwards what should have become of it.
"""

import json
import random
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import LiteralString
from uuid import UUID

from tests.faults.asking import Asking
from tests.faults.over_http import OverHttp
from tests.faults.works import Parameters, Work

SUBMIT: LiteralString = """
    select switchyard.submit(%s, %s, workflow => %s, correlation_id => %s, idempotency_key => %s, callbacks => %s)
"""
CANCEL: LiteralString = "select switchyard.cancel(%s, 'the campaign', 'it was to be canceled')"


@dataclass(frozen=True, slots=True)
class Asked:
    """One thing that was asked for, under a key that nothing else has."""

    key: str
    work: Work
    parameters: Parameters
    over_http: bool = False


class Submitter:
    """Submits in a thread of its own; `submitted` grows as the ledger confirms."""

    def __init__(self, url: str, works: Sequence[Work], seed: int, signalboxes: Sequence[str]) -> None:
        self._asking = Asking(url, "submitter")
        self._works = works
        self._chance = random.Random(f"load {seed}")
        self._number = 0
        self.http = OverHttp(signalboxes)
        self.submitted: dict[UUID, Asked] = {}

    def begin(self, count: int, seconds: float) -> threading.Thread:
        """`count` things, spread over that time; join the thread to know that all are in the ledger."""
        chosen = [self._next() for _ in range(count)]
        thread = threading.Thread(target=self._submit_all, args=(chosen, seconds), daemon=True)
        thread.start()
        return thread

    def close(self) -> None:
        self._asking.close()
        self.http.close()

    def _next(self) -> Asked:
        work = self._chance.choices(self._works, [work.share for work in self._works])[0]
        self._number += 1
        parameters = work.make(self._chance, self._number)
        over_http = work.workflow is not None and self._chance.random() < 0.5
        return Asked(f"{work.name}-{self._number}", work, parameters, over_http)

    def _submit_all(self, chosen: Sequence[Asked], seconds: float) -> None:
        began = time.monotonic()
        for place, asked in enumerate(chosen):
            time.sleep(max(0.0, began + seconds * place / len(chosen) - time.monotonic()))
            self._submit(asked)

    def _submit(self, asked: Asked) -> None:
        work = asked.work
        if asked.over_http:
            assert work.workflow is not None
            uuid = self.http.submit(work.workflow, asked.parameters, asked.key)
        else:
            own = json.dumps(work.callbacks) if work.callbacks else None
            given = (
                work.action,
                json.dumps(asked.parameters),
                work.workflow,
                f"c-{asked.key}",
                asked.key,
                own,
            )
            uuid = UUID(str(self._asking.one(SUBMIT, *given)))
        self.submitted[uuid] = asked
        if work.cancel and asked.over_http:
            self.http.cancel(uuid)
        elif work.cancel:
            self._asking.one(CANCEL, uuid)
