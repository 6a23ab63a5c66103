"""One message at a time: whatever it raises concerns that message alone."""

from pathlib import Path

import pytest

from switchyard.aws.queue import Message
from switchyard.backends.sqs import source as module
from switchyard.backends.sqs.model import SqsAction
from switchyard.sources import Notice
from switchyard.store import open_store


def test_a_message_that_raises_anything_becomes_a_notice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(_body: str) -> None:
        raise ZeroDivisionError("a mistake of ours")

    monkeypatch.setattr(module, "read", breaks)
    source = module.SqsSource(SqsAction(status_queue="status"), open_store(tmp_path.as_uri()))
    seen = source._read(Message("m-1", "{}", "receipt", 1, "c-1"))
    assert isinstance(seen, Notice)
    assert (seen.subject, seen.key) == ("status", "m-1")
    assert seen.reason == "a message on status could not be used: ZeroDivisionError: a mistake of ours"
