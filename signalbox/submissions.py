"""Submissions that arrive while a message to the database is in progress share the next one, and its commit.

ADR 0320. A message is one transaction: either all of its submissions are stored, or none. If the database
refuses one of them, or one has to wait for a lock or takes more than two seconds (because of a trigger that
was added, for example), each is sent once more alone, so that no submission fails or waits long because of
another. After a lost connection nothing is repeated, because it is not known whether it was stored.
"""

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from psycopg.errors import LockNotAvailable, QueryCanceled
from psycopg.rows import DictRow

from signalbox.access.roles import Caller
from signalbox.database import Database, Refused, Statement
from switchyard.ledger.queries import query

MESSAGES = 2  # in progress at once: while the database works on one, the next is filled
LARGEST, MOST = 256 * 1024, 50  # characters of inputs and submissions of a message
EXECUTE = query("signalbox", "execute")


@dataclass(frozen=True, slots=True)
class _Submission:
    statement: Statement
    size: int
    answer: asyncio.Future[DictRow | None]


class Submissions:
    """Sends submissions, the oldest first."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: deque[_Submission] = deque()
        self._senders: set[asyncio.Task[None]] = set()

    async def submit(self, caller: Caller, values: Mapping[str, Any]) -> DictRow:
        """The job of this submission."""
        statement = Statement(caller, EXECUTE, values)
        answer = asyncio.get_running_loop().create_future()
        self._waiting.append(_Submission(statement, len(values["inputs"]), answer))
        if len(self._senders) < MESSAGES:
            self._senders.add(asyncio.create_task(self._send()))
        row = await answer
        return await self._database.once(statement) if row is None else row

    async def _send(self) -> None:
        while self._waiting:
            group = self._next()
            try:
                answers = await self._answers(group)
            except Exception as error:  # noqa: BLE001 - it is passed on to the waiting request
                answers = [error] * len(group)
            for each, answer in zip(group, answers, strict=True):
                if each.answer.done():  # no request waits for it any more
                    continue
                if isinstance(answer, Exception):
                    each.answer.set_exception(answer)
                else:
                    each.answer.set_result(answer)
        # Here and not in a callback: a submission that arrives before it runs would have no sender.
        self._senders.remove(cast("asyncio.Task[None]", asyncio.current_task()))

    def _next(self) -> list[_Submission]:
        group = [self._waiting.popleft()]
        size = group[0].size
        while self._waiting and len(group) < MOST and size + self._waiting[0].size <= LARGEST:
            group.append(self._waiting.popleft())
            size += group[-1].size
        return group

    async def _answers(self, group: list[_Submission]) -> "list[DictRow | Exception | None]":
        """The answers; None for submissions that have to be sent alone."""
        try:
            return [*await self._database.together([each.statement for each in group])]
        except Refused as refused:
            alone = len(group) > 1 or isinstance(refused.error, LockNotAvailable | QueryCanceled)
            return [None if alone else refused.error] * len(group)
