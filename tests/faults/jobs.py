"""The part of the yard around SQS: a queue of jobs and one of statuses on ElasticMQ, behind a network, and the sample region."""

import json
import subprocess
import sys
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.faults.flows import AGAIN, DONE, PATIENT, REPORTED, SORRY
from tests.faults.works import FINE, Work
from tests.parts import elasticmq
from tests.parts.proxy import Proxy

if TYPE_CHECKING:
    from mypy_boto3_sqs.literals import QueueAttributeNameType

COUNTS: "list[QueueAttributeNameType]" = [
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
]


class Jobs:
    """Where assessments wait, are worked on and are reported; the status queue is a standard one, so it may repeat."""

    def __init__(self, stack: ExitStack, folder: Path) -> None:
        self.part = stack.enter_context(closing(elasticmq.start()))
        self.network = stack.enter_context(Proxy(self.part.port))
        self.sqs = self.part.sqs()
        self.queues = {"work": self.part.queue(), "status": self.part.queue()}
        self.region = folder / "region"
        made = [sys.executable, "-m", "assessment", "bundle", "sample", str(self.region)]
        subprocess.run(made, check=True, capture_output=True)
        self.environ = {**self.part.environ, "AWS_ENDPOINT_URL_SQS": f"http://127.0.0.1:{self.network.port}"}

    def worker_environ(self, store: str) -> dict[str, str]:
        """The settings of `assessment work`; every wait is short."""
        return {
            **self.environ,
            "SQS_ENDPOINT": self.environ["AWS_ENDPOINT_URL_SQS"],
            "SQS_QUEUE_NAME": self.name("work"),
            "SQS_STATUS_QUEUE_NAME": self.name("status"),
            "SQS_WAIT_TIME_SECONDS": "1",
            "SQS_VISIBILITY_TIMEOUT": "3",
            "REDELIVERY_DELAY_SECONDS": "0",
            "ERROR_PAUSE_SECONDS": "0.2",
            "MAX_ATTEMPTS": "100",
            "SHUTDOWN_GRACE_SECONDS": "5",
            "HEALTH_HOST": "127.0.0.1",
            "PORT": "0",
            "SWITCHYARD_STORE": store,
            "SWITCHYARD_BUNDLE": str(self.region / "bundle"),
        }

    def configuration(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The action and the workflow."""
        # Every delivery that an outage spoils counts, and hidden for so short a time there are many.
        action = {"type": "sqs", "queue": self.name("work"), "status_queue": self.name("status"), "wait": "1s",
                  "visibility": "3s", "poison_after": 1000, "retry": PATIENT, "timeout": "5s"}  # fmt: skip
        flow = {"action": "jobs", "retry": AGAIN, "timeout": "10m", "callbacks": [DONE, REPORTED, SORRY]}
        return {"jobs": action}, {"assess": flow}

    def works(self) -> list[Work]:
        """Assessments of one to three sites, and of an input that is not there."""
        sites = json.loads((self.region / "sites.geojson").read_text())

        def few(chance: Any, n: int) -> dict[str, Any]:
            features = chance.sample(sites["features"], chance.randint(1, 3))
            return {"n": n, "assessment": "nutrient", "input": {"geojson": {**sites, "features": features}}}

        def none(chance: Any, n: int) -> dict[str, Any]:
            return {"n": n, "assessment": "nutrient", "input": {"key": f"uploads/{n}.geojson"}}

        return [
            Work("assessed", 6, "jobs", few, FINE, "assess"),
            Work("unassessed", 2, "jobs", none, {"FAILED": "is not in the store"}, "assess"),
        ]

    def left_over(self) -> list[str]:
        """Jobs that nobody has taken off the queue."""
        url = self.queues["work"]
        found = self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=COUNTS)["Attributes"]
        return [f"on the work queue: {name} {count}" for name, count in found.items() if count != "0"]

    def name(self, queue: str) -> str:
        return self.queues[queue].rsplit("/", 1)[1]
