"""Lanes: their open actions, and what holds them back."""

from signalbox.access.roles import Role
from signalbox.endpoint import Call, get
from signalbox.records.lanes import Lane, LaneList
from switchyard.ledger.queries import query as named

MOST = 500


@get("/lanes", Role.READER)
async def lanes(call: Call) -> LaneList:
    """The lanes with open actions, of action names with limits."""
    values = {"name": None, "all": False, "limit": MOST + 1}
    rows = await call.rows(named("look", "lanes"), values)
    found = [Lane(**{key: row[key] for key in Lane.model_fields}) for row in rows[:MOST]]
    return LaneList(lanes=found, more=len(rows) > MOST)
