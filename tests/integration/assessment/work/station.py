"""A work queue, a status queue, a store, and workers as processes around them."""

import json
import os
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

from switchyard.places import Places
from switchyard.store import Store, open_store
from tests.parts.aws import AwsPart
from tests.parts.ports import free_port
from tests.uuids import uuid7
from tests.waiting import until

ROOT = Path(__file__).parents[4]
TINY = ("-m", "tests.integration.assessment.work.tiny")


class Worker:
    """One spawned worker."""

    def __init__(self, command: list[str], environ: dict[str, str], log: Path, port: int) -> None:
        self.log, self.port = log, port
        with log.open("ab") as file:
            self.process = subprocess.Popen(command, env=environ, cwd=ROOT, stderr=file, stdout=file)

    def health(self, path: str = "/health") -> tuple[int, Any]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=5) as answer:
                return answer.status, _body(answer.read())
        except urllib.error.HTTPError as error:
            with error:
                return error.code, _body(error.read())
        except OSError:
            return 0, None

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def _body(raw: bytes) -> Any:
    return json.loads(raw) if raw.startswith(b"{") else raw.decode()


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
        log = self.folder / f"worker-{len(self.workers)}.log"
        words = [sys.executable, *(command or TINY)]
        self.workers.append(Worker(words, self.environ(port, **settings), log, port))
        return self.workers[-1]

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
            print(worker.log.read_text())  # pytest shows it where a test fails
