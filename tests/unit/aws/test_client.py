"""Calls to AWS end before the dispatch that waits for them does."""

from typing import Any

import pytest

from switchyard.aws import client


@pytest.mark.parametrize("within", [0.5, 5.0, 30.0, 600.0])
def test_hole_15_all_attempts_of_a_call_end_within_the_dispatch(within: float) -> None:
    for make in (client.sqs, client.step_functions):
        config: Any = make("http://127.0.0.1:1", "eu-west-2", within=within).meta.config
        assert client.ATTEMPTS * (config.connect_timeout + config.read_timeout) < within


def test_a_long_poll_is_waited_for() -> None:
    config: Any = client.sqs("http://127.0.0.1:1", "eu-west-2").meta.config
    assert config.read_timeout > 20


def test_the_object_store_answers_within_the_default_timeout_of_a_dispatch() -> None:
    config: Any = client.s3(path_style=True).meta.config
    assert client.ATTEMPTS * (config.connect_timeout + config.read_timeout) < 30
