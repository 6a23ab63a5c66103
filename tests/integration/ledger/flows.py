"""A session that claims from a flow, as a worker of conductor does."""

import json
from typing import Any
from uuid import UUID

from tests.integration.ledger.ledger import Connection

CLAIM = """select uuids, lanes, limited, extract(epoch from next_due - clock_timestamp())::float, held_back
  from switchyard.lane_claim(%s, %s, %s, %s, %s)"""
END = """insert into switchyard.event (action_uuid, status, run, attempt, retry_seconds)
  select y.action_uuid, %s::switchyard.status, y.run, y.attempt + 1, %s from switchyard.yard y where y.action_uuid = any (%s)"""
UNLOCK = "select switchyard.unlock(array(select switchyard.uuid_lock(u) from unnest(%s::uuid[]) as u))"


def announce(connection: Connection, name: str = "hook", **limits: Any) -> None:
    """Give an action name lanes and limits."""
    flow = {"flow": name, "action_name": name, **limits}
    connection.execute("select switchyard.announce_flows(%s)", [json.dumps([flow])])


def fill(connection: Connection, count: int, lane: str | None, name: str = "hook", **more: Any) -> None:
    """Submit this many in one lane."""
    connection.execute(
        "insert into switchyard.action (action_name, lane, priority) select %s, %s, %s from generate_series(1, %s)",
        [name, lane, more.get("priority", 100), count],
    )


class Worker:
    """One session of a worker; it knows what it holds."""

    def __init__(self, connection: Connection, flow: str = "hook") -> None:
        self.connection = connection
        self._flow = flow
        self.held: dict[UUID, str] = {}
        self.limited = False
        self.held_back = False
        self.due_in: float | None = None
        self.unreported = False  # it unlocked something since its last claim

    def claim(self, wanted: int = 10, slowed: dict[str, float] | None = None) -> list[str]:
        """The lanes of what was claimed, in order; none where the claim gave up (its lanes are null)."""
        steps = slowed or {}
        values = [self._flow, wanted, list(self.held), list(steps), list(steps.values())]
        [(uuids, lanes, self.limited, self.due_in, self.held_back)] = self.connection.execute(
            CLAIM, values
        ).fetchall()
        assert not set(uuids) & set(self.held), "claimed twice"
        assert len(set(uuids)) == len(uuids)
        found: list[str] = lanes or []
        self.held |= dict(zip(uuids, found, strict=True))
        self.unreported = False
        return found

    def finish(
        self, count: int | None = None, status: str = "SUCCESSFUL", retry: float | None = None
    ) -> None:
        """Record the outcome of the oldest of what it holds, and unlock; the next claim reports it."""
        done = list(self.held)[:count]
        self.connection.execute(END, [status, retry, done])
        self.unlock(done)

    def unlock(self, uuids: list[UUID]) -> None:
        """Give locks back."""
        self.connection.execute(UNLOCK, [uuids])
        self.unreported = self.unreported or bool(uuids)
        for uuid in uuids:
            del self.held[uuid]


def in_flight(connection: Connection, flow: str = "hook") -> dict[str, int]:
    """What the lanes count, where it is not 0."""
    rows: list[tuple[str, int]] = connection.execute(
        "select lane, in_flight from switchyard.lane where flow = %s and in_flight > 0", [flow]
    ).fetchall()
    return dict(rows)
