"""What the AWS-like parts have in common: one pair of credentials, one region, clients for them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING
from uuid import uuid4

import boto3

from tests.parts.process import Process

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.literals import QueueAttributeNameType
    from mypy_boto3_stepfunctions import SFNClient

ACCESS_KEY = "switchyard-test"
SECRET_KEY = "switchyard-test-secret"
REGION = "eu-west-2"


class AwsPart:
    """An endpoint that speaks AWS's protocols; `.environ` is what a spawned program needs to use it."""

    def __init__(self, process: Process, port: int, *services: str) -> None:
        self.process = process
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.environ = {
            "AWS_ACCESS_KEY_ID": ACCESS_KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            **{f"AWS_ENDPOINT_URL_{service}": self.url for service in services},
        }
        self._session = boto3.Session(ACCESS_KEY, SECRET_KEY, region_name=REGION)

    def sqs(self) -> "SQSClient":
        return self._session.client("sqs", endpoint_url=self.url)

    def s3(self) -> "S3Client":
        return self._session.client("s3", endpoint_url=self.url)

    def sfn(self) -> "SFNClient":
        return self._session.client("stepfunctions", endpoint_url=self.url)

    def queue(self, attributes: "Mapping[QueueAttributeNameType, str] | None" = None) -> str:
        """A new queue's URL; `attributes` as CreateQueue takes them."""
        return self.sqs().create_queue(QueueName=f"q-{uuid4().hex}", Attributes=attributes or {})["QueueUrl"]

    def bucket(self) -> str:
        """A new bucket's name."""
        name = f"b-{uuid4().hex}"
        self.s3().create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "eu-west-2"})
        return name

    def close(self) -> None:
        self.process.stop()
