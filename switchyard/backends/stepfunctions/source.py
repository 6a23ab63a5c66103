"""Step Functions as a source: status-change messages say that something happened, describe says what.

A message is a bell: EventBridge may leave out an output that is large, send twice, or not at all. So every
end is described before it is told, executions that run are listed now and then (one that nobody waits for is
stopped whenever it turns up), and what was silent for long is described by name. Executions cannot be
deleted: to forget one is to acknowledge its message.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from botocore.exceptions import BotoCoreError, ClientError

from switchyard.aws import client as aws
from switchyard.aws.queue import Message, Queue
from switchyard.backends.stepfunctions.model import CirrusAction
from switchyard.backends.stepfunctions.observe import Unreadable, named_in, observe
from switchyard.errors import SwitchyardError, Transient
from switchyard.execution import WHOLE, Shard, name_of, parse_name
from switchyard.sources import Notice, Observation, Seen
from switchyard.status import Status

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient

LIST_EVERY = 30.0
LONGEST_TEXT = 32_768


class CirrusSource:
    """The executions of some state machines."""

    can_look = True

    def __init__(self, action: CirrusAction, machines: Sequence[str], shard: Shard = WHOLE) -> None:
        self.name = f"cirrus {action.queue.rsplit('/', 1)[-1]}" if action.queue else "cirrus"
        self._action = action
        self._machines = tuple(machines)
        self._shard = shard
        self._client: SFNClient | None = None
        self._queue: Queue | None = None
        self._listed = -LIST_EVERY
        self._heard = 0.0

    async def start(self) -> None:
        """Make the clients and find the queue."""
        where = self._action.endpoint, self._action.region
        self._client = await asyncio.to_thread(aws.step_functions, *where)
        if self._action.queue:
            endpoint = self._action.queue_endpoint or self._action.endpoint
            client = await asyncio.to_thread(aws.sqs, endpoint, self._action.region)
            self._queue = Queue(client, self._action.queue)
            await self._queue.find()

    async def observations(self) -> AsyncIterator[Seen]:
        """What messages tell, and what a list of the running ones shows."""
        while True:
            for seen in await self._running():
                yield seen
            if self._queue is None:
                await asyncio.sleep(LIST_EVERY)
                continue
            for message in await self._queue.receive(self._action.wait):
                yield await self._heard_of(message)
            self._heard = time.monotonic()

    def answers_for(self, uuid: UUID, _handed: Mapping[str, Any], /) -> bool:
        """Of our share."""
        return self._shard.owns(uuid)

    def in_charge(self) -> bool:
        """There is no lease: the ledger's locks do."""
        return True

    def present(self, _uuid: UUID, _run: int, /) -> bool | None:
        """Only a describe can tell."""
        return None

    async def look(self, uuid: UUID, run: int) -> Observation | None:
        """Describe it, at each of the machines that it could belong to."""
        for machine in self._machines:
            if found := await self._describe(f"{_executions(machine)}:{name_of(uuid, run)}"):
                return observe(uuid, run, found)
        return None

    async def log(self, _observation: Observation, /) -> bytes | None:
        """Step Functions keeps none."""
        return None

    async def stop_execution(self, uuid: UUID, run: int, reason: str) -> None:
        """Stop it wherever it runs; what is not there, or over, is no error."""
        for machine in self._machines:
            arn = f"{_executions(machine)}:{name_of(uuid, run)}"
            await self._call(
                "stop", "stop_execution", executionArn=arn, error="Switchyard", cause=reason[:32_000]
            )

    async def forget(self, observation: Observation) -> None:
        """Acknowledge the message, where one told it."""
        if observation.handle is not None:
            await self._acknowledge(observation.handle)

    async def ready(self) -> bool:
        """The executions were listed lately."""
        return time.monotonic() - self._listed < 4 * LIST_EVERY

    async def close(self) -> None:
        """Close the client's connections."""
        if self._client is not None:
            self._client.close()

    async def _heard_of(self, message: Message) -> Seen:
        acknowledge = partial(self._acknowledge, message.receipt)
        try:
            uuid, run, arn = named_in(message.body)
        except Unreadable as error:
            return self._notice(message, str(error))
        found = await self._describe(arn)
        seen = observe(uuid, run, found, message.receipt) if found else Observation(uuid, run, None)
        if seen.status is not None and seen.status.ended:
            return seen
        return Observation(uuid, run, seen.status, acknowledge=acknowledge)

    async def _running(self) -> list[Observation]:
        """Those that run now; told every time, so that the core can stop what nobody waits for."""
        if time.monotonic() - self._listed < LIST_EVERY:
            return []
        found = []
        for machine in self._machines:
            found += [pair for name in await self._names(machine) if (pair := parse_name(name))]
        self._listed = time.monotonic()
        return [Observation(uuid, run, Status.RUNNING) for uuid, run in found if self._shard.owns(uuid)]

    async def _names(self, machine: str) -> list[str]:
        names: list[str] = []
        page: dict[str, str] = {}
        while True:
            request = {"stateMachineArn": machine, "statusFilter": "RUNNING", **page}
            answer = await self._call("list", "list_executions", **request)
            names += [each["name"] for each in (answer or {}).get("executions", ())]
            if not answer or "nextToken" not in answer:
                return names
            page = {"nextToken": answer["nextToken"]}

    async def _describe(self, arn: str) -> dict[str, Any] | None:
        return await self._call("describe", "describe_execution", executionArn=arn)

    async def _call(self, doing: str, method: str, **request: str) -> dict[str, Any] | None:
        """The answer; None where there is no such execution."""
        try:
            answer: dict[str, Any] = await asyncio.to_thread(getattr(self._client, method), **request)
        except (ClientError, BotoCoreError) as error:
            if aws.code_of(error) == "ExecutionDoesNotExist":
                return None
            explained: SwitchyardError = aws.explained(error, f"{doing} an execution")
            raise Transient(str(explained)) from error
        return answer

    async def _acknowledge(self, receipt: str) -> None:
        assert self._queue is not None, "only a queue's messages have receipts"
        await self._queue.delete(receipt)

    def _notice(self, message: Message, reason: str) -> Notice:
        return Notice(
            subject=self._action.queue or self.name,
            reason=f"a message on {self._action.queue} could not be used: {reason}",
            key=message.id,
            detail={"text": message.body[:LONGEST_TEXT]},
            acknowledge=partial(self._acknowledge, message.receipt),
        )


def _executions(machine: str) -> str:
    return machine.replace(":stateMachine:", ":execution:", 1)
