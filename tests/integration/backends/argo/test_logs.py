"""The archived log of a failed step, on a real S3 server: its end, and only from our own bucket."""

import os

import pytest

from switchyard.backends.argo import logs
from switchyard.backends.argo.logs import archived_log
from tests.parts.aws import AwsPart


@pytest.fixture
def buckets(s3: AwsPart, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """Ours and another's, each with a log in it."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in s3.environ.items():
        monkeypatch.setenv(name, value)
    ours, other = s3.bucket(), s3.bucket()
    for bucket in (ours, other):
        s3.s3().put_object(Bucket=bucket, Key="argo/w/main.log", Body=b"first\nlast words\n")
    return ours, other


def test_the_last_part_is_stored(buckets: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"s3://{buckets[0]}/argo/w/main.log"
    assert archived_log(address) == b"first\nlast words\n"
    monkeypatch.setattr(logs, "LOG_LIMIT", 11)
    assert archived_log(address) == b"last words\n"


def test_a_log_that_does_not_exist_is_none(buckets: tuple[str, str]) -> None:
    assert archived_log(f"s3://{buckets[0]}/argo/w/other.log") is None
