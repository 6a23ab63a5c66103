"""SIGKILL at every step of a delivery, in both modes; then a second conductor finishes.

The steps are those that the outside can see: each statement, before it reaches the server and after it was
committed there, and the webhook, as it is being connected to and as it has been received. A claim is one that
was looked for, or the answer to a bell that named its action. At each step the ledger, the lock and the receiver
are looked at while the conductor waits, so that it is sure where it dies.
"""

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from conductor.dispatch.pipeline import ORPHANED
from tests.acceptance.conductor.tripwire import Tripwire, When
from tests.deployment.deployment import Deployment
from tests.deployment.program import Program
from tests.parts.database import Database
from tests.waiting import until

SUBMIT = "insert into switchyard.action (action_name) values ('webhook') returning action_uuid"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
SEEN = """
select t.status::text, exists (
  select from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
  where l.locktype = 'advisory' and l.objsubid = 1 and (l.classid::bigint << 32 | l.objid::bigint) = t.lock_id)
from switchyard.thread t where t.action_uuid = %s
"""
LOCKS = """
select count(*) from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
where l.locktype = 'advisory'
"""
RESTING = """
select 1 from pg_locks l join pg_stat_activity a on a.pid = l.pid and a.datname = current_database()
where l.locktype = 'advisory' and l.objsubid = 2 and l.mode = 'ExclusiveLock' and l.granted
  and a.state = 'idle' and a.state_change < clock_timestamp() - interval '50 ms'
"""
ENDS = (
    "select count(*) from switchyard.event where action_uuid = %s and status >= 'SUCCESSFUL' and not ignored"
)
END = "select status::text, needs_review, error from switchyard.thread where action_uuid = %s"
NOBODY = bytes(16)
ABOUT = {"answer": NOBODY, "running": b"RUNNING", "settle": b"SUCCESSFUL"}  # what the statement is sent with


class Receiver:
    """Counts whole requests; `connected` and `received` are called, once each, before it goes on."""

    def __init__(self) -> None:
        self.calls = 0
        self.connected: Callable[[], None] | None = None
        self.received: Callable[[], None] | None = None
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/"

    def serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return  # closed: the test is over
            with client:
                self._answer(client)

    def _answer(self, client: socket.socket) -> None:
        step, self.connected = self.connected, None
        if step is not None:
            step()
            return
        data = b""
        while not data.endswith(b"\r\n\r\n"):  # the webhook has no body
            piece = client.recv(65536)
            if not piece:
                return
            data += piece
        self.calls += 1
        step, self.received = self.received, None
        if step is not None:
            step()
            return
        client.sendall(ANSWER)

    def close(self) -> None:
        self._listener.close()


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()
    threading.Thread(target=receiver.serve, daemon=True).start()
    try:
        yield receiver
    finally:
        receiver.close()


@dataclass(frozen=True)
class Step:
    """Where the conductor dies, and what is so at that moment: the thread's status, its lock, the calls."""

    at: str
    when: When
    status: str
    locked: bool
    calls: int

    def __str__(self) -> str:
        return f"{self.when}-{self.at}"


STATEMENTS = {
    "claim": ("claim", "claim_described"),
    "answer": ("claim_one",),
    "running": ("write",),
    "settle": ("write",),
}
ABOUT = {"answer": NOBODY, "running": b"RUNNING", "settle": b"SUCCESSFUL"}
"""What the values of the statement must contain, where it is also run for something else."""


def steps(under_way: str) -> list[Step]:
    """Those that both modes have; `under_way` is what the thread says during the dispatch."""
    return [
        Step("claim", "before", "PENDING", locked=False, calls=0),
        Step("claim", "after", "PENDING", locked=True, calls=0),
        Step("answer", "before", "PENDING", locked=False, calls=0),
        Step("answer", "after", "PENDING", locked=True, calls=0),
        Step("send", "before", under_way, locked=True, calls=0),
        Step("send", "after", under_way, locked=True, calls=1),
        Step("settle", "before", under_way, locked=True, calls=1),
        Step("settle", "after", "SUCCESSFUL", locked=True, calls=1),
        Step("unlock", "before", "SUCCESSFUL", locked=True, calls=1),
        Step("unlock", "after", "SUCCESSFUL", locked=False, calls=1),
    ]


AT_LEAST_ONCE = steps("PENDING")
AT_MOST_ONCE = [
    *steps("RUNNING"),
    Step("running", "before", "PENDING", locked=True, calls=0),
    Step("running", "after", "RUNNING", locked=True, calls=0),
    Step("running_now", "before", "RUNNING", locked=True, calls=0),
    Step("running_now", "after", "RUNNING", locked=True, calls=0),
]


class Scene:
    """One action, one receiver, a conductor that dies at one step, and the one that follows."""

    def __init__(self, folder: Path, database: Database, receiver: Receiver, delivery: str) -> None:
        self._folder, self._database, self._receiver = folder, database, receiver
        webhook = {
            "type": "http",
            "delivery": delivery,
            "allow_networks": ["127.0.0.0/8"],
            "request": {"url": receiver.url},
        }
        self._config: dict[str, Any] = {
            "actions": {"webhook": webhook},
            "workers": {"beat": "500ms", "lost_after": "2s", "min_lost": 100},
        }
        self.seen: tuple[str, bool, int] | None = None
        self._uuid: UUID | None = None
        self._calls_before = 0
        self._first: Program | None = None
        self._struck = threading.Event()

    @property
    def calls(self) -> int:
        """How often the receiver was called for the action."""
        return self._receiver.calls - self._calls_before

    def die_at(self, step: Step) -> None:
        """A conductor starts, comes as far as that, and is killed there."""
        wire: Tripwire | None = None
        with ExitStack() as stack:
            database = self._database
            if step.at != "answer":
                self._submit()
            if step.at == "send":
                setattr(self._receiver, {"before": "connected", "after": "received"}[step.when], self._strike)
            else:
                names = STATEMENTS.get(step.at, (step.at,))
                wire = Tripwire(_port(database), names, step.when, self._strike)
                wire.about = ABOUT.get(step.at, b"")
                stack.enter_context(wire)
                database = Database(database.name, _through(wire.port, database))
            first = self._first = Deployment(database, self._folder, self._config).program("conductor")
            first.start()
            stack.callback(first.kill)
            if step.at == "answer":
                assert wire is not None
                self._ring(wire)
            assert self._struck.wait(60), first.log.read_text()
            assert first.wait() == -signal.SIGKILL

    def _submit(self, wire: Tripwire | None = None) -> None:
        with self._database.connect() as connection, connection.transaction():
            [[self._uuid]] = connection.execute(SUBMIT).fetchall()
            self._calls_before = self._receiver.calls
            if wire is not None:
                wire.about = self._uuid.bytes

    def _ring(self, wire: Tripwire) -> None:
        """Submit to a conductor that rests. One that it was about to look for itself is delivered: again."""
        while not self._struck.is_set():
            until(lambda: self._database.execute(RESTING))
            self._submit(wire)
            until(lambda: self._struck.is_set() or self._seen()[0] == "SUCCESSFUL")

    def _seen(self) -> tuple[str, bool]:
        [(status, locked)] = self._database.execute(SEEN, self._uuid)
        return status, locked

    def follow(self) -> None:
        """The death frees the lock; then another conductor does what there is left to do."""
        until(lambda: self._database.execute(LOCKS) == [(0,)])
        follower = Deployment(self._database, self._folder, self._config)
        done = follower.run("conductor", "once", "-c", follower.file)
        assert done.returncode == 0, done.stderr

    def outcome(self) -> tuple[str, bool, str | None]:
        """How it ended, exactly once; with no lock left."""
        assert self._database.execute(LOCKS) == [(0,)]
        assert self._database.execute(ENDS, self._uuid) == [(1,)]
        [(status, needs_review, error)] = self._database.execute(END, self._uuid)
        return status, needs_review, error

    def _strike(self) -> None:
        assert self._first is not None
        self.seen = (*self._seen(), self.calls)
        os.kill(self._first.pid, signal.SIGKILL)
        self._struck.set()


def _port(database: Database) -> int:
    return int(str(conninfo_to_dict(database.url)["port"]))


def _through(port: int, database: Database) -> str:
    """The same database through the tripwire, which reads along and so cannot be spoken to in TLS."""
    return make_conninfo(database.url, host="127.0.0.1", port=port, sslmode="disable", gssencmode="disable")


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as made:
        yield made


@pytest.mark.parametrize("step", AT_LEAST_ONCE, ids=str)
def test_at_least_once_is_sent_again_unless_its_end_is_written(
    step: Step, tmp_path: Path, database: Database, receiver: Receiver
) -> None:
    scene = Scene(tmp_path, database, receiver, "at_least_once")
    scene.die_at(step)
    assert scene.seen == (step.status, step.locked, step.calls)
    scene.follow()
    assert scene.outcome() == ("SUCCESSFUL", False, None)
    assert scene.calls == (step.calls if step.status == "SUCCESSFUL" else step.calls + 1)


@pytest.mark.parametrize("step", AT_MOST_ONCE, ids=str)
def test_at_most_once_is_never_sent_again_once_it_may_have_been(
    step: Step, tmp_path: Path, database: Database, receiver: Receiver
) -> None:
    scene = Scene(tmp_path, database, receiver, "at_most_once")
    scene.die_at(step)
    assert scene.seen == (step.status, step.locked, step.calls)
    scene.follow()
    if step.status == "RUNNING":
        assert scene.outcome() == ("FAILED", True, ORPHANED)
        assert scene.calls == step.calls
    else:
        assert scene.outcome() == ("SUCCESSFUL", False, None)
        assert scene.calls == 1
