"""Everything that runs in the campaign: a server, programs of ours, receivers, a store, real parts around them."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from switchyard.ledger import migrate
from switchyard.store import Store, open_store
from tests.deployment import configuration
from tests.deployment.ready import ready
from tests.faults import flows, works
from tests.faults.cluster import Flows
from tests.faults.jobs import Jobs
from tests.faults.program import Program
from tests.faults.receivers import Receivers, receivers
from tests.parts import guardian
from tests.parts.cache import UnavailableError
from tests.parts.clock import Clock
from tests.parts.database import Database
from tests.parts.disk import Disk
from tests.parts.need import required
from tests.parts.ports import free_port
from tests.parts.postgres import Server, binaries
from tests.parts.proxy import Proxy
from tests.waiting import until

if TYPE_CHECKING:
    from mypy_boto3_sqs.type_defs import MessageTypeDef

CONDUCTORS, CABOOSES, WORKERS, SIGNALBOXES = 3, 2, 2, 2
BEATING = """
    select kind, coalesce(action_name, ''), count(*) from switchyard.worker
    where ended_at is null and lost_at is null and beat_at > clock_timestamp() - interval '5 s' - rests group by 1, 2
"""

T = TypeVar("T")


class Yard:
    """One deployment, from `yard()`; its parts are there to be struck."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self._stack = stack
        self.missing: dict[str, str] = {}
        self.server_clock = self._part(
            "a clock that can be set", lambda: stack.enter_context(closing(Clock()))
        )
        environ = {**os.environ, **self.server_clock.environ} if self.server_clock else None
        self.server = stack.enter_context(closing(Server(binaries("embedded"), {}, environ=environ)))
        self.server.start()
        migrate.upgrade(self.server.url())
        self.database = Database("postgres", self.server.url())
        self.submitting = stack.enter_context(Proxy(self.server.port))
        self.receivers: Receivers = stack.enter_context(receivers())
        self.disk = self._part("a disk that can be filled", lambda: stack.enter_context(closing(Disk())))
        self.jobs = self._part("SQS", lambda: Jobs(stack, folder))
        self.flows = self._part("Kubernetes and Argo", lambda: Flows(stack))
        self.home = self.disk.folder if self.disk else folder
        self.spool, self.starts = self.home / "spool", folder / "starts"
        self.starts.touch()
        self.store: Store = open_store((self.home / "store").as_uri())
        self.works = [*works.WEBHOOKS, *works.LOCAL]
        for part in self._around():
            self.works += part.works()
        self.config = self._configuration()
        self.file = configuration.write(folder / "switchyard.yaml", self.config)
        self.programs: dict[str, Program] = {}
        self.signalboxes: list[str] = []
        self.misconfigured_until = 0.0  # by the monotonic clock
        self.trespasses: list[str] = []
        self.remembered: dict[str, list[MessageTypeDef]] = {"work": [], "status": []}

    def start(self) -> None:
        """All programs, and wait until the ledger knows them."""
        aws = self.jobs.environ if self.jobs else {}
        for number in range(CONDUCTORS):
            self._spawn(f"conductor-{number + 1}", ["conductor", "run", "-c", self.file], aws)
        for number in range(CABOOSES):
            self._spawn(f"caboose-{number + 1}", ["caboose", "run", "-c", self.file], aws)
        for number in range(WORKERS if self.jobs else 0):
            assert self.jobs is not None
            environ = self.jobs.worker_environ(self.store.url)
            self._spawn(f"worker-{number + 1}", ["assessment", "work"], environ, ledger=False)
        for number in range(SIGNALBOXES):
            port = free_port()
            self.signalboxes.append(f"http://127.0.0.1:{port}")
            environ = {"SWITCHYARD_SIGNALBOX__LISTEN__PORT": str(port)}
            self._spawn(f"signalbox-{number + 1}", ["signalbox", "run", "-c", self.file], environ)
        until(lambda: not self.absent(), 120, every=0.2)

    def absent(self) -> list[str]:
        """What ought to be there and shows no life; every conductor has a worker for each name."""
        beating = {(kind, name): count for kind, name, count in self.database.execute(BEATING)}
        wanted = dict.fromkeys((("conductor", name) for name in self.config["actions"]), CONDUCTORS)
        wanted["caboose", ""] = CABOOSES
        counts = {who: (beating.get(who, 0), most) for who, most in wanted.items()}
        silent = [
            f"{kind} {name}: {here} of {most}" for (kind, name), (here, most) in counts.items() if here < most
        ]
        return silent + [f"signalbox at {url}" for url in self.signalboxes if not ready(url)]

    def left_over(self) -> list[str]:
        """What nobody has forgotten at its backend."""
        spooled = [f"in the spool: {path.name}" for path in self.spool.iterdir() if path.is_dir()]
        return [*spooled, *(what for part in self._around() for what in part.left_over())]

    def tend(self) -> None:
        """Start again what ended."""
        misconfigured = time.monotonic() < self.misconfigured_until
        for program in self.programs.values():
            program.tend(misconfigured=misconfigured)

    def stop(self) -> dict[str, int | None]:
        """All programs, in order; their exit codes."""
        return {name: program.stop() for name, program in self.programs.items()}

    def close(self) -> None:
        for program in self.programs.values():
            program.process.kill()

    def _configuration(self) -> dict[str, Any]:
        actions, workflows = flows.local(self.spool, self.starts)
        for part in self._around():
            more_actions, more_workflows = part.configuration()
            actions |= more_actions
            workflows |= more_workflows
        return {
            **flows.settings(),
            "store": self.store.url,
            "actions": {**flows.webhooks(self.receivers.url), **actions},
            "workflows": workflows,
        }

    def _around(self) -> list[Jobs | Flows]:
        return [part for part in (self.jobs, self.flows) if part is not None]

    def _spawn(
        self, name: str, words: list[str | Path], environ: Mapping[str, str], *, ledger: bool = True
    ) -> None:
        network = self._stack.enter_context(Proxy(self.server.port)) if ledger else None
        url = {"DATABASE_URL": f"postgresql://postgres@127.0.0.1:{network.port}/postgres"} if network else {}
        clock = self._part("a clock that can be set", lambda: self._stack.enter_context(closing(Clock())))
        argv = [Path(sys.executable).parent / words[0], *words[1:]]
        self.programs[name] = Program(name, argv, {**environ, **url}, clock, network)
        self.programs[name].start()

    def _part(self, name: str, make: Callable[[], T]) -> T | None:
        """A part that not every machine can have; without it, its faults are left out and the report says so."""
        try:
            return make()
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
