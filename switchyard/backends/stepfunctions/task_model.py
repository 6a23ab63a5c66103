"""`cirrus_task`: answers a Step Functions task that waits with a token."""

from typing import Literal

from switchyard.aws.model import AwsAction
from switchyard.config.expressions import JsonPath


class CirrusTaskAction(AwsAction):
    """Sends a task's success or failure. The paths are over the callback's parameters."""

    type: Literal["cirrus_task"] = "cirrus_task"
    token: JsonPath = "$.token"  # noqa: S105 - a path, not a token
    """Where the task token is."""
    output: JsonPath = "$.output"
    """What the waiting task gets as its output."""
    error: JsonPath = "$.error"
    """Where this finds a text, the task is failed with it instead."""
