"""`noop`: does nothing, successfully. For tests, benchmarks and placeholders."""

from typing import ClassVar, Literal

from switchyard.config.action import Action


class NoopAction(Action):
    """Does nothing; every dispatch succeeds."""

    runs_workflows: ClassVar[bool] = True
    answers_itself: ClassVar[bool] = True

    type: Literal["noop"] = "noop"
