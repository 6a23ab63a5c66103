"""P10: the inbox by cause, with 100,000 failures of three causes; what a cause costs a failure, and a success.

python -m benchmarks.ledger.causes
"""

import argparse
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

from benchmarks.report import Figure, publish
from benchmarks.server import fresh, server, settle_down
from switchyard.ledger import migrate
from switchyard.ledger.queries import query

ROUNDS = 15
FAIL = """
insert into switchyard.event (action_uuid, status, run, attempt, error)
select y.action_uuid, 'FAILED', 1, 1, case n %% 3
  when 0 then format('answered 503 Service Unavailable: {"order": %%s, "message": "try later"}', n)
  when 1 then format('connect to node-%%s.example.com:443: connection refused', n)
  else format('the input does not fit the schema: ''%%s'' is not of type ''number''', n) end
from (select action_uuid, row_number() over () as n from switchyard.yard limit %s) as y
"""
SUCCEED = """
insert into switchyard.event (action_uuid, status, run, attempt)
select action_uuid, 'SUCCESSFUL', 1, 1 from switchyard.yard limit %s
"""
SUBMIT = (
    "insert into switchyard.action (action_name) select 'hook' || n %% 5 from generate_series(1, %s) as n"
)
LIBPQ = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "dbname": "PGDATABASE"}


def milliseconds(act: Callable[[], object]) -> float:
    """How long it took."""
    began = time.perf_counter()
    act()
    return (time.perf_counter() - began) * 1000


def command(url: str) -> None:
    """The whole command: start, connection, query and table."""
    place = conninfo_to_dict(url)
    subprocess.run(
        [sys.executable, "-m", "switchyard", "inbox", "--by-cause"],
        env={**os.environ, **{variable: str(place[word]) for word, variable in LIBPQ.items()}},
        stdout=subprocess.DEVNULL,
        check=True,
    )


def ended(connection: psycopg.Connection[Any], statement: str, many: int) -> float:
    """Microseconds per end, in one statement."""
    connection.execute(SUBMIT, [many])
    return milliseconds(lambda: connection.execute(statement.encode(), [many])) * 1000 / many


def main() -> None:
    """Fill the inbox and read it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--failures", type=int, default=100_000)
    failures: int = parser.parse_args().failures
    with server() as postgres, psycopg.connect(url := fresh(postgres), autocommit=True) as connection:
        migrate.upgrade(url)
        ended(connection, SUCCEED, failures // 10)
        succeeds = ended(connection, SUCCEED, failures // 10)
        fails = ended(connection, FAIL, failures)
        settle_down(url)
        [(causes,)] = connection.execute("select count(*) from switchyard.cause").fetchall()
        look = [
            milliseconds(lambda: connection.execute(query("look", "causes"), {"limit": 100}).fetchall())
            for _ in range(ROUNDS)
        ]
        whole = [milliseconds(lambda: command(url)) for _ in range(5)]
    publish(f"P10 inbox by cause, {failures:,} failures", [
        Figure("causes", causes, "", at_least=3, at_most=3),
        Figure("by cause, median", statistics.median(look), "ms", at_most=200),
        Figure("by cause, slowest", max(look), "ms"),
        Figure("the command, with its start", statistics.median(whole), "ms"),
        Figure("a failure, with its cause", fails, "us"),
        Figure("a success", succeeds, "us"),
    ])  # fmt: skip


if __name__ == "__main__":
    main()
