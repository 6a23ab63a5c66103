"""`sqs`: puts a job on a work queue; its workers report on the status queue, which caboose reads.

SQS cannot be searched for a job: a send without a response is repeated. Jobs are delivered at least once, and
the first end of a run counts.
"""

import json
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from switchyard.aws import client as aws
from switchyard.aws.errors import explained
from switchyard.aws.queue import Queue
from switchyard.backends.prepare import PreparedWorkflow, prepare
from switchyard.backends.sqs.model import SqsAction
from switchyard.backends.threads import Threads
from switchyard.errors import StoreError, SwitchyardError
from switchyard.handlers import Failed, HandedOver, HandlerContext, Invalid, Outcome, Retry, Work

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

# Parameters of an assessment that are copied to its job; workers read all others from the input.
COPIED = ("assessment", "edition", "mode", "bundle")


class SqsHandler:
    """Sends jobs to work queues."""

    def __init__(self, name: str, action: SqsAction, context: HandlerContext) -> None:
        self.name = name
        self._action = action
        self._context = context
        self._threads = Threads(min(action.concurrency, 32))
        self._queues: dict[str, Queue] = {}
        self._client: SQSClient | None = None

    async def start(self) -> None:
        """Create the client; queues are looked up on first use."""
        action = self._action
        self._client = await self._threads.run(aws.sqs, action.endpoint, action.region, within=action.timeout)

    async def dispatch(self, work: Work, /) -> Outcome:
        """Send the job; its further progress comes from the worker's status messages."""
        prepared = await prepare(work, self._context, self._threads)
        if not isinstance(prepared, PreparedWorkflow):
            return prepared
        queue = prepared.workflow.template or self._action.default_template
        if not isinstance(queue, str):
            return Invalid(f"the workflow {work.workflow!r} has no queue")
        try:
            body = await self._threads.run(self._body, work, prepared)
            return await self._threads.run(self._send, queue, body, work)
        except StoreError as error:
            return _outcome(error)
        except (ClientError, BotoCoreError) as error:
            return _outcome(explained(error, f"send to the queue {queue}"))

    async def close(self) -> None:
        """Close the client's connections."""
        if self._client is not None:
            self._client.close()

    def _send(self, name: str, body: str, work: Work) -> Outcome:
        assert self._client is not None, "started before the first dispatch"
        queue = self._queues.setdefault(name, Queue(self._client, name))
        message_id = queue.send(body, work.correlation_id, str(work.uuid), work.name)
        return HandedOver({"queue": name, "message_id": message_id})

    def _body(self, work: Work, prepared: PreparedWorkflow) -> str:
        """The job message; if the input makes it too long, the input is stored and sent by reference."""
        job = _job(work, prepared)
        body = json.dumps(job)
        if len(body.encode()) <= self._action.max_body:
            return body
        key = f"{prepared.places.folder}/input.geojson"
        self._context.store.put(key, json.dumps(job["input"]["geojson"]).encode())
        return json.dumps({**job, "input": {"key": key}})


def _job(work: Work, prepared: PreparedWorkflow) -> dict[str, Any]:
    parameters = prepared.parameters
    given = parameters.get("input")
    named = isinstance(given, dict) and len(given) == 1 and given.keys() <= {"key", "geojson"}
    return {
        "version": 1,
        "action_uuid": str(work.uuid),
        "run": work.run,
        "workflow": work.workflow,
        **{name: parameters[name] for name in COPIED if name in parameters},
        "input": given if named else {"key": prepared.places.input},
        "output": prepared.variables["output"],
        "timeout_s": prepared.workflow.timeout,
    }


def _outcome(error: SwitchyardError) -> Outcome:
    return Retry(str(error)) if error.transient else Failed(str(error))
