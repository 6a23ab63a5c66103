"""The blocking client."""

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self, TypeVar, Unpack, overload
from uuid import UUID

from psycopg import Connection

from switchyard.client import statements
from switchyard.client.connections import run
from switchyard.client.output import Results, store_of
from switchyard.client.records import Event, Graph, Thread
from switchyard.client.statements import ActionId, ResumeFrom, Statement
from switchyard.client.task_decorator import P, Returned, Task
from switchyard.client.verbs import APPLICATION, Client, pauses, timed_out
from switchyard.ledger.actor import actor as default_actor
from switchyard.ledger.connect import connect_sync
from switchyard.submit.options import Options, with_options
from switchyard.submit.submission import Submission
from switchyard.submit.write import trace_submitted, write_many

Result = TypeVar("Result")


class Switchyard(Client):
    """Submits, follows and controls actions.

    `url_or_connection`: a database URL; or a connection of yours (psycopg, SQLAlchemy's Connection or
    Session, Django's), whose transaction every verb is then part of; by default the configured database, else
    libpq's PG* variables. `config`: a Config or the path of its file; with it, submissions are checked
    against it and results can be read.

        with Switchyard("postgresql://app@db/app", config="switchyard.yaml") as yard:
            action = yard.submit(workflow="nutrient", parameters={"input": {"key": "sites.gpkg"}})
            print(yard.wait(action, timeout=600).status)
    """

    _own: Connection | None = None

    @with_options
    def submit(
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
        uuid = self._run(statements.submit(request), connection)
        trace_submitted([uuid], [request], began)
        return uuid

    @overload
    def task(self, function: Callable[P, Returned], /) -> Task[P, Returned, UUID]: ...

    @overload
    def task(
        self, /, *, name: str | None = None
    ) -> Callable[[Callable[P, Returned]], Task[P, Returned, UUID]]: ...

    def task(self, function: Callable[P, Returned] | None = None, /, *, name: str | None = None) -> Any:
        """Turn a function into a task: `.submit(…)` submits a call, which conductor executes.

        `name`: the action name that serves it, by default the function's own.
        """
        if function is None:
            return lambda each: Task(self.submit, each, name)
        return Task(self.submit, function, name)

    def submit_many(self, submissions: Iterable[Submission], *, connection: Any = None) -> list[UUID]:
        """Submit many actions, all or none; returns their ids in the same order."""
        began, requests, used = time.monotonic(), self.requests(submissions), self._connection(connection)
        if isinstance(used, Connection):
            return write_many(used, requests)
        uuids = run(used, statements.submit_many(requests))
        trace_submitted(uuids, requests, began)
        return uuids

    def submit_graph(self, graph: Mapping[str, Any], *, connection: Any = None) -> Graph:
        """Submit actions that wait for each other, with names instead of ids: docs/graphs.md."""
        return self._run(statements.submit_graph(graph), connection)

    def status(self, action: ActionId) -> Thread:
        """The current state; raises NoSuchAction if there is no such action."""
        return self._run(statements.status(action))

    def events(self, action: ActionId) -> list[Event]:
        """Every state change, oldest first."""
        return self._run(statements.events(action))

    def wait(self, action: ActionId, timeout: float | None = None) -> Thread:
        """Wait for the end and return the state; raises WaitTimeout after `timeout` seconds."""
        thread = self.status(action)
        for pause in pauses(timeout):
            if thread.ended:
                return thread
            time.sleep(pause)
            thread = self.status(action)
        if thread.ended:
            return thread
        raise timed_out(thread, timeout)

    def results(self, action: ActionId) -> Results:
        """The output and files of the current run, read from the configured store on access."""
        return Results(self.status(action), store_of(self.store_url()))

    def why(self, action: ActionId) -> str:
        """Why the action has not ended, in one sentence, or how it ended."""
        return self._run(statements.why(action))

    def cancel(self, action: ActionId, *, reason: str, actor: str | None = None) -> bool:
        """Cancel an action; False if it had ended already."""
        return self._run(statements.cancel(action, actor or default_actor(), reason))

    def retrigger(
        self, action: ActionId, *, reason: str, actor: str | None = None, resume_from: ResumeFrom = "failed"
    ) -> int:
        """Open the next run of an action that ended without success, from `start` or `failed`; its number."""
        return self._run(statements.retrigger(action, actor or default_actor(), reason, resume_from))

    def close(self) -> None:
        """Close the client's own connection; one of yours stays open."""
        if self._own is not None:
            self._own.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, statement: Statement[Result], connection: Any = None) -> Result:
        return run(self._connection(connection), statement)

    def _connection(self, given: Any) -> Any:
        if given is not None or self._given is not None:
            return self._given if given is None else given
        if self._own is None or self._own.closed:
            self._own = connect_sync(self.url(), application_name=APPLICATION)
        return self._own
