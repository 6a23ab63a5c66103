"""Two conductors and two cabooses that are killed again and again, each as a whole, and started again."""

import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.deployment.deployment import Deployment
from tests.faults import process
from tests.parts.database import Database

DONE = {"name": "done", "action": "hook", "parameters": {"n": {"path": "$.output.n"}}}
SORRY = {"name": "sorry", "action": "hook", "when": ["failed"]}
RETRY = {"attempts": 50, "base": "100ms", "factor": 1.2, "max": "500ms"}


class Killing(Deployment):
    """What they run: no-ops, and local processes that leave a line at each start."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.starts = folder / "starts"
        self.starts.touch()
        template = [sys.executable, "-S", process.__file__, str(self.starts)]
        tile = {
            "action": "run", "template": template, "retry": RETRY, "callbacks": [DONE, SORRY],
            "reuse": {"version": "1", "key": ["$.tile"]},
        }  # fmt: skip
        run = {
            "type": "local",
            "spool": str(folder / "spool"),
            "concurrency": 8,
            "retry": RETRY,
            "grace": "1s",
        }
        config: dict[str, Any] = {
            "database": {"url": "env:DATABASE_URL"},
            "store": (folder / "store").as_uri(),
            "workers": {"beat": "500ms", "lost_after": "3s", "min_lost": 1_000_000},
            "actions": {"hook": {"type": "noop"}, "run": run},
            "workflows": {"tile": tile},
        }
        super().__init__(database, folder, config)
        self._chance = random.Random(11)
        self.victims: list[str] = []

    def start(self) -> None:
        """All four, and wait until the ledger knows them."""
        for name in ("conductor", "caboose"):
            for _ in range(2):
                self.program(name).start()
        self.registered(6)  # a worker for each name, in each conductor

    def kill_until(self, over: Callable[[], bool], *, most: int, seconds: float = 240) -> None:
        """SIGKILL to one of them after the other, with a pause in which it comes up; then wait for the end."""
        deadline = time.monotonic() + seconds
        while not over():
            assert time.monotonic() < deadline, "it does not end"
            time.sleep(self._chance.uniform(0.3, 1.5))  # the moment of the kill is the test
            if len(self.victims) < most:
                victim = self._chance.choice(self.programs)
                victim.behead()  # what it had started goes on, as on a host that stays
                victim.start()
                self.victims.append(victim.name)
