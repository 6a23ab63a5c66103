"""What AWS's own library and servers say, as our errors; no server here says all of it."""

import pytest
from botocore.exceptions import ClientError, InvalidRegionError, ReadTimeoutError, SSLError

from switchyard.aws import client as aws
from switchyard.aws import errors
from switchyard.errors import BadInput, ConfigError, StoreError, SwitchyardError, Transient
from switchyard.store import s3_client
from switchyard.store.s3_errors import explained


def said(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "no"}}, "any")


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (said("InvalidArn"), BadInput, "cannot start: no (InvalidArn)"),
        (said("AccessDenied"), ConfigError, "cannot start: no (AccessDenied)"),
        (said("StateMachineDoesNotExist"), ConfigError, "cannot start: no (StateMachineDoesNotExist)"),
        (said("Throttling"), Transient, "cannot start: no (Throttling)"),
        (ReadTimeoutError(endpoint_url="x"), Transient, "cannot start: no answer (ReadTimeoutError)"),
    ],
)
def test_an_error_reports_whether_to_try_again(
    error: Exception, kind: type[SwitchyardError], text: str
) -> None:
    told = errors.explained(error, "start")
    assert (type(told), str(told)) == (kind, text)


@pytest.mark.parametrize("make", [aws.sqs, aws.step_functions])
def test_a_client_that_cannot_be_made_is_a_configuration_error(make: object) -> None:
    with pytest.raises(ConfigError, match="client cannot be set up"):
        make("no url", None)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (
            SSLError(endpoint_url="x", error=ValueError("expired")),
            "the server's certificate is not good: .*expired",
        ),
        (InvalidRegionError(region_name="?"), "cannot read s3://b/k: .*region"),
    ],
)
def test_what_no_second_try_mends_at_the_store(error: Exception, text: str) -> None:
    with pytest.raises(StoreError, match=text) as raised, explained("read", "s3://b/k"):
        raise error
    assert not raised.value.transient


def test_amazon_itself_is_asked_by_the_buckets_name(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-2")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "y")
    amazon = s3_client.client()
    assert amazon.generate_presigned_url("get_object", Params={"Bucket": "bucket", "Key": "k"}).startswith(
        "https://bucket.s3"
    )
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "http://127.0.0.1:1")
    other = s3_client.client()
    assert other.generate_presigned_url("get_object", Params={"Bucket": "bucket", "Key": "k"}).startswith(
        "http://127.0.0.1:1/bucket/k"
    )
