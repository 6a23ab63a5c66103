"""The journal: decisions of people, and automatic events."""

from typing import Annotated

from pydantic import Field

from signalbox.access.roles import Role
from signalbox.endpoint import Call, get
from signalbox.records.base import Record
from signalbox.records.operations import Journal, JournalEntry
from switchyard.ledger.queries import query as named


class JournalQuery(Record):
    """A filter of entries."""

    limit: Annotated[int, Field(ge=1, le=1000)] = 50
    """How many at most."""
    before: Annotated[int, Field(ge=0, le=2**63 - 1)] | None = None
    """Only entries older than this one; links to the next page have it."""


@get("/journal", Role.READER, template="journal")
async def journal(call: Call, query: JournalQuery) -> Journal:
    """Events that do not belong to a single action, the newest first."""
    rows = await call.rows(named("signalbox", "journal"), {"before": query.before, "limit": query.limit + 1})
    entries = [JournalEntry(**row) for row in rows[: query.limit]]
    links = [call.link("/journal", "self")]
    if len(rows) > query.limit:
        links.append(call.link(f"/journal?limit={query.limit}&before={entries[-1].entry_id}", "next"))
    return Journal(entries=entries, links=links)
