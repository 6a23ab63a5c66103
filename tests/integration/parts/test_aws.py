"""SQS, S3 and Step Functions behave as the programs rely on, whichever part serves them."""

import json

import pytest
from botocore.exceptions import ClientError

from tests.parts.aws import AwsPart
from tests.waiting import until


def test_an_unacknowledged_message_comes_again_and_is_counted(elasticmq: AwsPart) -> None:
    sqs, queue = elasticmq.sqs(), elasticmq.queue({"VisibilityTimeout": "1"})
    sqs.send_message(
        QueueUrl=queue,
        MessageBody="job",
        MessageAttributes={"CorrelationId": {"DataType": "String", "StringValue": "c-1"}},
    )
    for count in ("1", "2"):
        [message] = sqs.receive_message(
            QueueUrl=queue, WaitTimeSeconds=10, AttributeNames=["All"], MessageAttributeNames=["All"]
        )["Messages"]
        assert message["Attributes"]["ApproximateReceiveCount"] == count
        assert message["MessageAttributes"]["CorrelationId"]["StringValue"] == "c-1"
    sqs.delete_message(QueueUrl=queue, ReceiptHandle=message["ReceiptHandle"])
    assert not sqs.receive_message(QueueUrl=queue, WaitTimeSeconds=2).get("Messages")


def test_an_object_is_written_once(s3: AwsPart) -> None:
    client, bucket = s3.s3(), s3.bucket()
    client.put_object(Bucket=bucket, Key="a/b", Body=b"first", IfNoneMatch="*")
    with pytest.raises(ClientError, match="PreconditionFailed"):
        client.put_object(Bucket=bucket, Key="a/b", Body=b"second", IfNoneMatch="*")
    assert client.get_object(Bucket=bucket, Key="a/b")["Body"].read() == b"first"
    assert [entry["Key"] for entry in client.list_objects_v2(Bucket=bucket, Prefix="a/")["Contents"]] == [
        "a/b"
    ]


def test_a_state_machine_runs(moto: AwsPart) -> None:
    machine = {"StartAt": "Say", "States": {"Say": {"Type": "Pass", "Result": {"n": 42}, "End": True}}}
    sfn = moto.sfn()
    arn = sfn.create_state_machine(
        name="say", definition=json.dumps(machine), roleArn="arn:aws:iam::123456789012:role/none"
    )["stateMachineArn"]
    execution = sfn.start_execution(stateMachineArn=arn, name="once", input="{}")["executionArn"]
    until(lambda: sfn.describe_execution(executionArn=execution)["status"] != "RUNNING")
    assert json.loads(sfn.describe_execution(executionArn=execution)["output"]) == {"n": 42}
