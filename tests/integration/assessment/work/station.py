"""A work queue, a status queue, a store, and workers as processes around them."""

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from switchyard.places import Places
from switchyard.store import Store, open_store
from tests.deployment.program import Service
from tests.parts.aws import AwsPart
from tests.parts.ports import free_port
from tests.uuids import uuid7
from tests.waiting import until

ROOT = Path(__file__).parents[4]
TINY = ("-m", "tests.integration.assessment.work.tiny")


class Worker(Service):
    """One spawned worker."""

    def __init__(self, command: list[str], environ: dict[str, str], folder: Path, port: int) -> None:
        super().__init__("worker", command, env=environ, cwd=ROOT, logs_in=folder)
        self.port = port

    def health(self, path: str = "/health") -> tuple[int, Any]:
        """The status and the answer, as JSON where it is JSON; (0, "") where there is none."""
        status, text = self.get(path)
        return status, json.loads(text) if text.startswith("{") else text

    def kill(self) -> None:
        """SIGKILL to it alone: what it started has to notice."""
        if self.running():
            self.behead()
        else:
            super().kill()

    def _address(self) -> str:
        return f"http://127.0.0.1:{self.port}"


class Station:
    def __init__(
        self,
        part: AwsPart,
        folder: Path,
        store: Store | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.part, self.folder = part, folder
        self.sqs = part.sqs()
        self.queue = part.queue()
        fifo = self.sqs.create_queue(QueueName=f"s-{uuid4().hex}.fifo", Attributes={"FifoQueue": "true"})
        self.status = fifo["QueueUrl"]
        self.store = store or open_store((folder / "store").as_uri())
        self._environ = environ or part.environ
        self.workers: list[Worker] = []
        self.heard: list[dict[str, Any]] = []

    def environ(self, port: int, **settings: str | None) -> dict[str, str]:
        """What a worker is given; None takes a variable away."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith(("SWITCHYARD_", "AWS_", "SQS_"))}
        given = {
            **clean,
            **self._environ,
            "SQS_ENDPOINT": self.part.url,
            "SQS_QUEUE_NAME": self.queue.rsplit("/", 1)[1],
            "SQS_STATUS_QUEUE_NAME": self.status.rsplit("/", 1)[1],
            "SQS_WAIT_TIME_SECONDS": "1",
            "SQS_VISIBILITY_TIMEOUT": "3",
            "REDELIVERY_DELAY_SECONDS": "0",
            "ERROR_PAUSE_SECONDS": "0.2",
            "HEALTH_HOST": "127.0.0.1",
            "PORT": str(port),
            "SWITCHYARD_STORE": self.store.url,
            **settings,
        }
        return {name: value for name, value in given.items() if value is not None}

    def spawn(self, *command: str, **settings: str | None) -> Worker:
        port = free_port()
        words = [sys.executable, *(command or TINY)]
        worker = Worker(words, self.environ(port, **settings), self.folder, port)
        worker.start()
        self.workers.append(worker)
        return worker

    def replace(self, worker: Worker, *command: str, **settings: str) -> Worker:
        """Kill it, and start another in its place."""
        worker.kill()
        return self.spawn(*command, **settings)

    def send(self, uuid: str | None = None, *, correlation: str = "c-1", **job: Any) -> str:
        uuid = uuid or str(uuid7())
        self.sqs.send_message(
            QueueUrl=self.queue,
            MessageBody=json.dumps({"version": 1, "action_uuid": uuid, "run": 1, **job}),
            MessageAttributes={"CorrelationId": {"DataType": "String", "StringValue": correlation}},
        )
        return uuid

    def home(self, uuid: str) -> str:
        return Places(UUID(uuid), 1).folder

    def hear(self) -> list[dict[str, Any]]:
        """Everything said on the status queue so far."""
        while True:
            answer = self.sqs.receive_message(
                QueueUrl=self.status, MaxNumberOfMessages=10, MessageAttributeNames=["All"]
            )
            messages = answer.get("Messages", [])
            if not messages:
                return self.heard
            for message in messages:
                self.sqs.delete_message(QueueUrl=self.status, ReceiptHandle=message["ReceiptHandle"])
                self.heard.append(json.loads(message["Body"]))

    def ends(self, uuid: str | None = None) -> list[dict[str, Any]]:
        said = [m for m in self.hear() if m.get("status") in ("SUCCESSFUL", "FAILED")]
        return [m for m in said if uuid is None or m["action_uuid"] == uuid]

    def statuses(self, uuid: str) -> list[str]:
        return [m["status"] for m in self.hear() if m.get("action_uuid") == uuid]

    def end(self, uuid: str, seconds: float = 60) -> dict[str, Any]:
        return until(lambda: self.ends(uuid), seconds, every=0.1)[0]

    def empty(self) -> bool:
        """No job left, visible or held."""
        return self._left(self.queue) == 0

    def heard_out(self) -> bool:
        """No status message left, visible or held."""
        return self._left(self.status) == 0

    def _left(self, queue: str) -> int:
        names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
        found = self.sqs.get_queue_attributes(QueueUrl=queue, AttributeNames=names)["Attributes"]  # type: ignore[arg-type]
        return sum(int(value) for value in found.values())

    def close(self) -> None:
        for worker in self.workers:
            worker.kill()
