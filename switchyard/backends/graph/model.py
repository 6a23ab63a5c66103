"""`graph`: workflows that have steps."""

from typing import ClassVar, Literal

from switchyard.config.action import Action


class GraphAction(Action):
    """Starts the steps of workflows. It exists whenever a workflow has steps; configure it to tune it."""

    runs_workflows: ClassVar[bool] = True
    takes_callbacks: ClassVar[bool] = False

    type: Literal["graph"] = "graph"
