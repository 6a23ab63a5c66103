"""`graph`: makes the steps of a workflow members of its action; or collects the output of a graph."""

import json
from typing import Any
from uuid import UUID

from psycopg.types.json import Jsonb

from switchyard.backends.graph.ledger import LedgerConnection
from switchyard.backends.graph.model import GraphAction
from switchyard.backends.graph.steps import graph_of
from switchyard.backends.inputs import with_inputs
from switchyard.backends.prepare import PreparedWorkflow, prepare
from switchyard.backends.threads import Threads
from switchyard.errors import BadInput, StoreMissing, SwitchyardError
from switchyard.handlers import Failed, HandedOver, HandlerContext, Invalid, Outcome, Retry, Success, Work
from switchyard.ledger.queries import query
from switchyard.places import Places

OPEN = query("submit", "open_graph")
WHOLE = query("submit", "graph_of_node")


class GraphHandler:
    """Uses one connection for all dispatches; each is one statement."""

    def __init__(self, name: str, action: GraphAction, context: HandlerContext) -> None:
        self.name = name
        self._context = context
        self._threads = Threads(min(action.concurrency, 32))
        self._ledger = LedgerConnection(context.config.database.conninfo())

    async def start(self) -> None:
        """The connection is opened by the first dispatch."""

    async def dispatch(self, work: Work, /) -> Outcome:
        """Start a workflow's steps, or collect the output of a graph; both may be done twice."""
        try:
            return await (self._open(work) if work.workflow is not None else self._collect(work))
        except StoreMissing as error:
            return Failed(f"an output that is needed is missing: {error}")
        except BadInput as error:
            return Invalid(str(error))
        except SwitchyardError as error:
            return Retry(str(error), sent=False)

    async def close(self) -> None:
        """Close the connection."""
        await self._ledger.close()

    async def _open(self, work: Work) -> Outcome:
        prepared = await prepare(work, self._context, self._threads)
        if not isinstance(prepared, PreparedWorkflow):
            return prepared
        graph = await graph_of(prepared.workflow, prepared.parameters, self._context.config)
        values = {"uuid": work.uuid, "run": work.run, "attempt": work.attempt, "graph": Jsonb(graph)}
        await self._ledger.row(OPEN, values)
        return HandedOver()

    async def _collect(self, work: Work) -> Outcome:
        row = await self._ledger.row(WHOLE, {"uuid": work.uuid})
        if row is None:
            return Invalid("only a node of a graph collects an output")
        parameters = await with_inputs(work.parameters, self._context.store, self._threads, work.action_name)
        return await self._store(parameters, *row)

    async def _store(self, output: dict[str, Any], graph: UUID, run: int) -> Outcome:
        key = Places(graph, run).output
        await self._threads.run(self._context.store.put, key, json.dumps(output).encode())
        return Success({"output": key})
