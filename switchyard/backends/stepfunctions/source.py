"""Step Functions as a source: each status-change message triggers a DescribeExecution.

A message is only a hint: EventBridge may omit a large output, send twice, or not at all. So every end is
described before it is reported, running executions are listed regularly (those no longer needed are stopped
whenever they are found), and executions without messages for long are described by name. Executions cannot be
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
from switchyard.aws.errors import code_of, explained
from switchyard.aws.queue import Message
from switchyard.backends.queue_reader import QueueReader
from switchyard.backends.set_aside import SetAside
from switchyard.backends.stepfunctions.model import CirrusAction
from switchyard.backends.stepfunctions.observe import UnreadableEvent, named_in, observe
from switchyard.backends.stepfunctions.redrive import execution_arn, names_of, redrives
from switchyard.backends.threads import Threads
from switchyard.errors import SwitchyardError, Transient
from switchyard.execution import WHOLE, Shard, parse_name
from switchyard.process.log import get_logger
from switchyard.sources import Observation, Seen
from switchyard.status import Status

if TYPE_CHECKING:
    from mypy_boto3_stepfunctions import SFNClient

LIST_EVERY = 30.0
GIVE_UP_AFTER = 5  # deliveries of a message about an execution that cannot be described
CALLS = 8

log = get_logger(__name__)


class CirrusSource:
    """The executions of some state machines."""

    one_observer = False
    can_look = True

    def __init__(self, action: CirrusAction, machines: Sequence[str], shard: Shard = WHOLE) -> None:
        self.name = f"cirrus {action.queue.rsplit('/', 1)[-1]}" if action.queue else "cirrus"
        self._action = action
        self._machines = tuple(machines)
        self._shard = shard
        self._threads = Threads(CALLS)
        self._set_aside = SetAside(self.name)
        self._client: SFNClient | None = None
        endpoint = action.queue_endpoint or action.endpoint
        self._queue = QueueReader(action.queue, endpoint, action.region) if action.queue else None
        self._list_at = self._heard = -LIST_EVERY

    async def start(self) -> None:
        """Create the clients and find the queue."""
        where = self._action.endpoint, self._action.region
        self._client = await self._threads.run(aws.step_functions, *where)
        if self._queue is not None:
            await self._queue.start()

    async def observations(self) -> AsyncIterator[Seen]:
        """Observations from messages, and from a list of the running executions."""
        while True:
            if time.monotonic() >= self._list_at:
                for machine in self._machines:
                    for seen in await self._running(machine):
                        yield seen
                self._list_at = time.monotonic() + LIST_EVERY
            if self._queue is None:
                await asyncio.sleep(LIST_EVERY)
                continue
            messages = await self._queue.receive(self._action.wait)
            self._heard = time.monotonic()
            for message in messages:
                if (reported := await self._read(self._queue, message)) is not None:
                    yield reported

    def answers_for(self, uuid: UUID, _handed: Mapping[str, Any], /) -> bool:
        """Whether the workflow is in this shard."""
        return self._shard.owns(uuid)

    def present(self, _uuid: UUID, _run: int, /) -> bool | None:
        """Unknown without DescribeExecution."""
        return None

    async def look(self, uuid: UUID, run: int) -> Observation | None:
        """Describe the execution, at each of the state machines that it may belong to."""
        async for named, _, found in self._everywhere(uuid, run):
            return observe(uuid, named, found)
        return None

    async def log(self, _observation: Observation, /) -> bytes | None:
        """Always None: Step Functions stores no logs."""
        return None

    async def stop_execution(self, uuid: UUID, run: int, reason: str) -> None:
        """Stop the execution wherever it runs; a missing or ended one is not an error."""
        why = {"error": "Switchyard", "cause": reason[:32_000]}
        async for _, arn, _ in self._everywhere(uuid, run):
            await self._call("stop_execution", executionArn=arn, **why)

    async def forget(self, observation: Observation) -> None:
        """Acknowledge the message of the execution, if there was one."""
        if observation.handle is not None:
            assert self._queue is not None, "only a queue's messages have receipts"
            await self._queue.acknowledge(observation.handle)

    async def ready(self) -> bool:
        """Whether executions were listed, or the queue was read, recently."""
        return time.monotonic() - self._heard < 4 * LIST_EVERY

    async def close(self) -> None:
        """Close the client's connections."""
        if self._client is not None:
            self._client.close()

    async def _read(self, queue: QueueReader, message: Message) -> Seen | None:
        """Read one message; errors concern only that message. None if it has to be received again."""
        try:
            return await self._reported(queue, message)
        except UnreadableEvent as error:
            return queue.notice(message, str(error))
        except Exception as error:  # noqa: BLE001 - an untrusted message must not stop the others
            log.warning("a message could not be processed", queue=queue.name, error=str(error))
            transient = isinstance(error, SwitchyardError) and error.transient
            if transient or message.deliveries <= GIVE_UP_AFTER:
                return None
            return queue.notice(message, f"delivered {message.deliveries} times: {error}")

    async def _reported(self, queue: QueueReader, message: Message) -> Seen:
        uuid, named, arn = named_in(message.body)
        found = await self._call("describe_execution", executionArn=arn)
        seen = observe(uuid, named, found, message.receipt) if found else Observation(uuid, named, None)
        if seen.status is not None and seen.status.ended:
            return seen
        acknowledge = partial(queue.acknowledge, message.receipt)
        return Observation(uuid, seen.run, seen.status, acknowledge=acknowledge)

    async def _running(self, machine: str) -> list[Seen]:
        """Running executions, reported every time, so that those no longer needed are stopped."""
        try:
            found = [
                (pair[0], pair[1] + redrives(each))
                for each in await self._listed(machine)
                if (pair := parse_name(each["name"]))
            ]
        except Exception as error:  # noqa: BLE001 - one state machine must not stop the others
            if isinstance(error, SwitchyardError) and error.transient:
                log.warning("executions could not be listed", machine=machine, error=str(error))
                return []
            notice = self._set_aside.report(machine, error)
            return [] if notice is None else [notice]
        self._set_aside.recovered(machine)
        self._heard = time.monotonic()
        return [Observation(uuid, run, Status.RUNNING) for uuid, run in found if self._shard.owns(uuid)]

    async def _listed(self, machine: str) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = []
        page: dict[str, str] = {}
        while True:
            request = {"stateMachineArn": machine, "statusFilter": "RUNNING", **page}
            answer = await self._call("list_executions", **request)
            listed += (answer or {}).get("executions", ())
            if not answer or "nextToken" not in answer:
                return listed
            page = {"nextToken": answer["nextToken"]}

    async def _everywhere(self, uuid: UUID, run: int) -> AsyncIterator[tuple[int, str, dict[str, Any]]]:
        """For each state machine, the execution of that run: the run in its name, its ARN, its description.

        Raises Transient at the end if a state machine could not be queried.
        """
        failed: Exception | None = None
        for machine in self._machines:
            try:
                found = await self._at(machine, uuid, run)
            except SwitchyardError as error:
                failed = error
            else:
                if found is not None:
                    yield found
        if failed is not None:
            raise Transient(str(failed)) from failed

    async def _at(self, machine: str, uuid: UUID, run: int) -> tuple[int, str, dict[str, Any]] | None:
        for named, name in names_of(uuid, run):
            arn = execution_arn(machine, name)
            described = await self._call("describe_execution", executionArn=arn)
            if described is not None:
                return (named, arn, described) if named + redrives(described) == run else None
        return None

    async def _call(self, method: str, **request: str) -> dict[str, Any] | None:
        """The response; None if there is no such execution."""
        try:
            answer: dict[str, Any] = await self._threads.run(getattr(self._client, method), **request)
        except (ClientError, BotoCoreError) as error:
            if code_of(error) == "ExecutionDoesNotExist":
                return None
            verb, _, _ = method.partition("_")
            raise explained(error, f"{verb} an execution") from error
        return answer
