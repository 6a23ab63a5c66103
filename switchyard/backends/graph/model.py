"""`graph`: workflows that have steps."""

from typing import ClassVar, Literal

from switchyard.config.action import Action


class GraphAction(Action):
    """Starts the steps of workflows: there wherever a workflow has steps; written down, it can be tuned."""

    runs_workflows: ClassVar[bool] = True
    takes_callbacks: ClassVar[bool] = False

    type: Literal["graph"] = "graph"
