"""A reader and a writer of a ledger that is migrated, and how long they waited for locks, as the server logs it."""

import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg
from psycopg import sql

from switchyard.ledger.definitions import PATIENCE

# Shorter waits are not logged. It must be longer than a migration's patience: a migration that waits for a
# bystander that waits for it gives up before Postgres looks for deadlocks, and may choose the bystander.
SETTINGS = {"log_lock_waits": "on", "deadlock_timeout": f"{PATIENCE * 1000 + 5:.0f}ms"}
VIEWS = "select viewname from pg_views where schemaname = 'switchyard' order by viewname"
END = (
    "insert into switchyard.event (action_uuid, status, run, attempt, source)"
    " select unnest(%s::uuid[]), 'SUCCESSFUL', 1, 1, 'test'"
)
_WAITED = re.compile(r"LOG:  process \d+ acquired (\w+) on (.+?) after ([\d.]+) ms")


@dataclass
class Bystanders:
    """What they did, and what they met."""

    url: str
    log: Path
    pauses: threading.Event = field(default_factory=threading.Event)
    reads: int = 0
    writes: int = 0
    slowest: float = 0.0  # milliseconds, a read of all views or an action from its submission to its end
    errors: list[str] = field(default_factory=list)

    def waits(self) -> dict[str, float]:
        """Milliseconds, by what the reader and the writer waited for: the longest of each."""
        longest: dict[str, float] = {}
        for line in self.log.read_text().splitlines():
            found = _WAITED.search(line)
            if found and "bystander" in line:
                what = re.sub(r" of database \d+$", "", f"{found[1]} on {found[2]}")
                longest[what] = max(longest.get(what, 0.0), float(found[3]))
        return longest

    def read(self, connection: psycopg.Connection[Any]) -> None:
        """A row of every view."""
        for (view,) in connection.execute(VIEWS).fetchall():
            connection.execute(sql.SQL("select * from switchyard.{} limit 1").format(sql.Identifier(view)))
            self.reads += 1

    def write(self, connection: psycopg.Connection[Any]) -> None:
        """An action from its submission to its end."""
        connection.execute("select switchyard.submit('hook')")
        row = connection.execute("select uuids from switchyard.claim('hook', 10)").fetchone()
        assert row is not None
        connection.execute(END, row)
        connection.execute("select pg_advisory_unlock_all()")
        self.writes += 1

    def repeat(self, what: Callable[[psycopg.Connection[Any]], None]) -> None:
        try:
            # A prepared `select *` of a view ends with an error when the view has other columns.
            with psycopg.connect(
                self.url, autocommit=True, application_name="bystander", prepare_threshold=None
            ) as connection:
                while not self.pauses.wait(0.001):
                    began = time.monotonic()
                    what(connection)
                    self.slowest = max(self.slowest, (time.monotonic() - began) * 1000)
        except psycopg.Error as error:
            self.errors.append(str(error))


@contextmanager
def bystanders(url: str, log: Path) -> Iterator[Bystanders]:
    """Both at work for as long as the block lasts; the server was started with SETTINGS, and logs `%a`."""
    both = Bystanders(url, log)
    threads = [threading.Thread(target=both.repeat, args=(what,)) for what in (both.read, both.write)]
    for thread in threads:
        thread.start()
    try:
        yield both
    finally:
        both.pauses.set()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
