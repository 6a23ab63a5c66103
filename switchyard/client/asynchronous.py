"""The asynchronous client: the verbs of the blocking one."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, Self, TypeVar, Unpack, overload
from uuid import UUID

from psycopg import AsyncConnection

from switchyard.client import statements
from switchyard.client.connections import run_async
from switchyard.client.output import Results, store_of
from switchyard.client.records import Event, Graph, Thread
from switchyard.client.statements import ActionId, ResumeFrom, Statement
from switchyard.client.task_decorator import P, Returned, Task
from switchyard.client.verbs import APPLICATION, Client, pauses, timed_out
from switchyard.ledger.actor import actor as default_actor
from switchyard.ledger.connect import connect
from switchyard.submit.options import Options, with_options
from switchyard.submit.submission import Submission
from switchyard.submit.write import trace_submitted

Result = TypeVar("Result")


class AsyncSwitchyard(Client):
    """`Switchyard` for asyncio; connections of yours are psycopg's AsyncConnection, or SQLAlchemy's
    AsyncConnection or AsyncSession.

    async with AsyncSwitchyard("postgresql://app@db/app") as yard:
        thread = await yard.wait(await yard.submit("webhook", {"url": "https://partner.example/hook"}))
    """

    def __init__(self, url_or_connection: Any = None, config: Any = None) -> None:
        super().__init__(url_or_connection, config)
        self._own: AsyncConnection | None = None
        self._opening = asyncio.Lock()

    @with_options
    async def submit(
        self,
        name: str | None = None,
        parameters: Mapping[str, Any] = {},
        *,
        connection: Any = None,
        **options: Unpack[Options],
    ) -> UUID:
        """Submit one action and return its id. `connection`: one of yours, for this submission alone."""
        began = time.monotonic()
        request = self.request(name, parameters, options)
        uuid = await self._run(statements.submit(request), connection)
        trace_submitted([uuid], [request], began)
        return uuid

    @overload
    def task(self, function: Callable[P, Returned], /) -> Task[P, Returned, Awaitable[UUID]]: ...

    @overload
    def task(
        self, /, *, name: str | None = None
    ) -> Callable[[Callable[P, Returned]], Task[P, Returned, Awaitable[UUID]]]: ...

    def task(self, function: Callable[P, Returned] | None = None, /, *, name: str | None = None) -> Any:
        """Turn a function into a task: `.submit(…)` submits a call, which conductor executes.

        `name`: the action name that serves it, by default the function's own.
        """
        if function is None:
            return lambda each: Task(self.submit, each, name)
        return Task(self.submit, function, name)

    async def submit_many(self, submissions: Iterable[Submission], *, connection: Any = None) -> list[UUID]:
        """Submit many actions, all or none; returns their ids in the same order."""
        began, requests = time.monotonic(), self.requests(submissions)
        uuids = await self._run(statements.submit_many(requests), connection)
        trace_submitted(uuids, requests, began)
        return uuids

    async def submit_graph(self, graph: Mapping[str, Any], *, connection: Any = None) -> Graph:
        """Submit actions that wait for each other, with names instead of ids: docs/graphs.md."""
        return await self._run(statements.submit_graph(graph), connection)

    async def status(self, action: ActionId) -> Thread:
        """The current state; raises NoSuchAction if there is no such action."""
        return await self._run(statements.status(action))

    async def events(self, action: ActionId) -> list[Event]:
        """Every state change, oldest first."""
        return await self._run(statements.events(action))

    async def wait(self, action: ActionId, timeout: float | None = None) -> Thread:  # noqa: ASYNC109 - as in Switchyard
        """Wait for the end and return the state; raises WaitTimeout after `timeout` seconds."""
        thread = await self.status(action)
        for pause in pauses(timeout):
            if thread.ended:
                return thread
            await asyncio.sleep(pause)
            thread = await self.status(action)
        if thread.ended:
            return thread
        raise timed_out(thread, timeout)

    async def results(self, action: ActionId) -> Results:
        """The output and files of the current run; reading them blocks: use asyncio.to_thread."""
        return Results(await self.status(action), store_of(self.store_url()))

    async def why(self, action: ActionId) -> str:
        """Why the action has not ended, in one sentence, or how it ended."""
        return await self._run(statements.why(action))

    async def cancel(self, action: ActionId, *, reason: str, actor: str | None = None) -> bool:
        """Cancel an action; False if it had ended already."""
        return await self._run(statements.cancel(action, actor or default_actor(), reason))

    async def retrigger(
        self, action: ActionId, *, reason: str, actor: str | None = None, resume_from: ResumeFrom = "failed"
    ) -> int:
        """Open the next run of an action that ended without success, from `start` or `failed`; its number."""
        return await self._run(statements.retrigger(action, actor or default_actor(), reason, resume_from))

    async def close(self) -> None:
        """Close the client's own connection; one of yours stays open."""
        if self._own is not None:
            await self._own.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _run(self, statement: Statement[Result], connection: Any = None) -> Result:
        return await run_async(await self._connection(connection), statement)

    async def _connection(self, given: Any) -> Any:
        if given is not None or self._given is not None:
            return self._given if given is None else given
        async with self._opening:
            if self._own is None or self._own.closed:
                self._own = await connect(self.url(), application_name=APPLICATION)
        return self._own
