"""A decision about many actions: counted first, then made in groups, with the progress after each.

Each group is a separate transaction, so it holds its locks only for a moment, and finished groups stay
committed if the request is interrupted: sending it again with the new count continues. A group that the
database refuses because of one action is halved until only that action is refused.
"""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import psycopg
from starlette.responses import Response, StreamingResponse

from signalbox.endpoint import Call
from signalbox.records.decisions import Done, Refused
from switchyard.ledger.queries import query

GROUP = 200
SHOWN = 100
LINES = "application/jsonl"


@dataclass(slots=True)
class Bulk:
    """A decision, the actions that it is about, and its results so far."""

    call: Call
    verb: str
    reason: str
    uuids: Sequence[UUID]
    resume_from: str = "failed"
    done: int = 0
    refused: list[Refused] = field(default_factory=list)

    async def answer(self) -> Done | Response:
        """The results; as JSON lines, one after each group, for a client that accepts them."""
        if LINES in self.call.request.headers.get("accept", ""):
            return StreamingResponse(self._lines(), media_type=LINES)
        async for _ in self._groups():
            pass
        return self._so_far()

    async def _lines(self) -> AsyncIterator[bytes]:
        async for so_far in self._groups():
            yield so_far.model_dump_json().encode() + b"\n"

    async def _groups(self) -> AsyncIterator[Done]:
        for start in range(0, len(self.uuids), GROUP):
            await self._decide(self.uuids[start : start + GROUP])
            yield self._so_far()

    def _so_far(self) -> Done:
        return Done(matched=len(self.uuids), done=self.done, refused=self.refused[:SHOWN])

    async def _decide(self, group: Sequence[UUID]) -> None:
        values = {
            "uuids": list(group),
            "actor": self.call.caller.name,
            "reason": self.reason,
            "resume_from": self.resume_from,
        }
        try:
            async with self.call.site.database.transaction(self.call.caller) as connection:
                rows = await (await connection.execute(query("decide", self.verb), values)).fetchall()
        except (psycopg.errors.ObjectNotInPrerequisiteState, psycopg.errors.NoDataFound) as error:
            if len(group) == 1:
                self.refused.append(Refused(action_uuid=group[0], detail=error.diag.message_primary or ""))
                return
            half = len(group) // 2
            await self._decide(group[:half])
            await self._decide(group[half:])
        else:
            self.done += sum(bool(row["result"]) for row in rows)
