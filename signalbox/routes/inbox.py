"""The inbox: entries that wait for a decision, and the causes of failures."""

from signalbox.access.roles import Role
from signalbox.endpoint import Call, get
from signalbox.records.decisions import CauseList, Found
from signalbox.records.operations import Inbox, InboxEntry
from switchyard.ledger.queries import query as named

MOST = 200
CAUSES = 100


@get("/inbox", Role.READER, template="inbox", parts=("causes",))
async def inbox(call: Call) -> Inbox:
    """The entries that wait for a decision, oldest first."""
    rows = await call.rows(named("look", "inbox"), {"limit": MOST + 1})
    entries = [InboxEntry(**{key: row[key] for key in InboxEntry.model_fields}) for row in rows[:MOST]]
    return Inbox(entries=entries, more=len(rows) > MOST)


@get("/causes", Role.READER)
async def causes(call: Call) -> CauseList:
    """The causes of the failed actions in the inbox, the most frequent first."""
    rows = await call.rows(named("look", "causes"), {"limit": CAUSES})
    return CauseList(causes=[Found(**{key: row[key] for key in Found.model_fields}) for row in rows])
