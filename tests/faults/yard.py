"""Everything that runs in the campaign: a server, programs of ours, receivers, a store, real parts around them."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import yaml

from switchyard.ledger import migrate
from switchyard.store import Store, open_store
from tests.faults import flows, works
from tests.faults.program import Program
from tests.faults.receivers import Receivers, receivers
from tests.parts import guardian
from tests.parts.cache import UnavailableError
from tests.parts.clock import Clock
from tests.parts.database import Database
from tests.parts.disk import Disk
from tests.parts.need import required
from tests.parts.postgres import Server, binaries
from tests.parts.proxy import Proxy
from tests.waiting import until

CONDUCTORS, CABOOSES = 3, 2


class Yard:
    """One deployment, from `yard()`; its parts are there to be struck."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self._stack = stack
        self.folder = folder
        self.missing: dict[str, str] = {}
        self.server = stack.enter_context(closing(Server(binaries("embedded"), {})))
        self.server.start()
        migrate.upgrade(self.server.url())
        self.database = Database("postgres", self.server.url())
        self.receivers: Receivers = stack.enter_context(receivers())
        self.disk = self._part("a disk that can be filled", Disk)
        self.home = self.disk.folder if self.disk else folder
        self.spool, self.starts = self.home / "spool", folder / "starts"
        self.starts.touch()
        self.submitting = stack.enter_context(Proxy(self.server.port))
        self.programs: dict[str, Program] = {}
        self.works = [*works.WEBHOOKS, *works.LOCAL]
        self.file = folder / "switchyard.yaml"
        self.config = self._configuration()
        self.file.write_text(yaml.safe_dump(self.config))
        self.store: Store = open_store((self.home / "store").as_uri())

    def start(self) -> None:
        for number in range(CONDUCTORS):
            self._spawn(f"conductor-{number + 1}", "conductor")
        for number in range(CABOOSES):
            self._spawn(f"caboose-{number + 1}", "caboose")
        until(
            lambda: self._registered() >= CONDUCTORS * len(self.config["actions"]) + CABOOSES, 120, every=0.2
        )

    def tend(self) -> None:
        """Start again what ended."""
        for program in self.programs.values():
            program.tend()

    def stop(self) -> dict[str, int | None]:
        """All programs, in order; their exit codes."""
        return {name: program.stop() for name, program in self.programs.items()}

    def close(self) -> None:
        for program in self.programs.values():
            program.process.kill()

    def _configuration(self) -> dict[str, Any]:
        actions, workflows = flows.local(self.spool, self.starts)
        return {
            **flows.settings(),
            "store": (self.home / "store").as_uri(),
            "actions": {**flows.webhooks(self.receivers.url), **actions},
            "workflows": workflows,
        }

    def _registered(self) -> int:
        alive = "select count(*) from switchyard.worker where ended_at is null and lost_at is null"
        ((count,),) = self.database.execute(alive)
        return int(count)

    def _spawn(self, name: str, command: str) -> None:
        network = self._stack.enter_context(Proxy(self.server.port))
        environ = {"DATABASE_URL": f"postgresql://postgres@127.0.0.1:{network.port}/postgres"}
        argv: list[str | Path] = [Path(sys.executable).parent / command, "run", "-c", self.file]
        program = Program(name, argv, environ, self._part("a clock that can be set", Clock), network)
        self.programs[name] = program
        program.start()

    def _part(self, name: str, make: Any) -> Any:
        """A part that not every machine can have; without it, its faults are left out and the report says so."""
        try:
            return self._stack.enter_context(closing(make()))
        except UnavailableError as why:
            if required():
                raise
            self.missing[name] = str(why)
            return None


@contextmanager
def yard() -> Iterator[Yard]:
    """A running one, with everything in a folder that vanishes."""
    with ExitStack() as stack:
        folder = guardian.scratch("faults")
        stack.callback(guardian.discard, folder)
        made = Yard(stack, folder)
        stack.callback(made.close)
        made.start()
        yield made
