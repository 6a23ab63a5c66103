"""Postgres: restarted, crashed, beheaded; single connections ended or stopped."""

import os
import signal

import psycopg

from tests.faults.inject.network import connected
from tests.faults.inject.strike import Heal, Missed, over
from tests.faults.plan import Fault
from tests.faults.yard import Yard


def restart(yard: Yard, fault: Fault) -> Heal:
    """A fast shutdown, as for an upgrade; a backend that is frozen holds it up, and then it is killed."""
    yard.server.restart(seconds=5)
    return over


def crash(yard: Yard, fault: Fault) -> Heal:
    """SIGKILL to the postmaster and all backends, then recovery."""
    yard.server.crash()
    return over


def behead(yard: Yard, fault: Fault) -> Heal:
    """SIGKILL to the postmaster alone, then recovery."""
    yard.server.behead()
    return over


def terminate(yard: Yard, fault: Fault) -> Heal:
    """pg_terminate_backend of one connection of a program, or of all of them."""
    pids = _backends(yard, fault)
    chosen = pids if fault.amount < 0.3 else pids[:1]
    try:
        yard.database.execute("select pg_terminate_backend(pid) from unnest(%s::int[]) as pid", chosen)
    except psycopg.OperationalError:
        raise Missed from None
    return over


def freeze_backend(yard: Yard, fault: Fault) -> Heal:
    """SIGSTOP to one backend: the server is there, and one of its processes does not answer."""
    pid = _backends(yard, fault)[0]
    os.kill(pid, signal.SIGSTOP)

    def heal() -> None:
        try:
            os.kill(pid, signal.SIGCONT)
        except ProcessLookupError:
            return

    return heal


def _backends(yard: Yard, fault: Fault) -> list[int]:
    """The backends of one program, the chosen one first."""
    ports = connected(yard, fault).far_ports()
    statement = (
        "select pid from pg_stat_activity where backend_type = 'client backend' and client_port = any(%s) "
        "order by pid"
    )
    try:
        rows = yard.database.execute(statement, ports)
    except psycopg.OperationalError:
        raise Missed from None
    if not rows:
        raise Missed
    first = int(fault.amount * len(rows))
    pids = [int(pid) for (pid,) in rows]
    return [*pids[first:], *pids[:first]]
