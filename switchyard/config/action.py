"""The settings that actions of all types share."""

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from switchyard.config.breaker import Breaker
from switchyard.config.limits import LanePath, Limits
from switchyard.config.model import Model
from switchyard.config.problems import Path, Problem
from switchyard.config.rate import Rate
from switchyard.config.retry import RetryPolicy
from switchyard.config.units import Aging, Interval


class Action(Model):
    """The configuration of one action name. A third-party type subclasses this and sets `type`."""

    runs_workflows: ClassVar[bool] = False
    """Whether a workflow may name it as its `action`."""
    takes_callbacks: ClassVar[bool] = True
    """Whether a callback may name it without a `workflow`."""
    answers_itself: ClassVar[bool] = False
    """Whether the dispatch's answer is the end, so that `at_most_once` means something."""
    needed_parameters: ClassVar[frozenset[str]] = frozenset()
    """Parameters without which every dispatch is INVALID, so that `check` can miss them in a callback."""
    instead_of_at_most_once: ClassVar[str] = "leave delivery out"
    """What `check` advises where at_most_once is refused."""
    template_of: ClassVar[str | None] = None
    """What a workflow's `template` is for this type; None where it has none."""
    template_form: ClassVar[Any] = str
    """The annotated type that a workflow's `template` must meet."""

    type: str
    """The handler of the action."""
    delivery: Literal["at_least_once", "at_most_once"] = "at_least_once"
    """`at_most_once` (http and noop only) never repeats what may have been sent."""
    concurrency: Annotated[int, Field(ge=1, le=10_000)] = 10
    """How many dispatches one worker has in flight. A type that hands over (argo, cirrus, local, sqs) has
    dispatched an action once its backend accepted it, so this does not limit how many run there."""
    timeout: Interval = 30.0
    """How long one dispatch may take."""
    retry: RetryPolicy = RetryPolicy()
    """When a dispatch is tried again."""
    rate: Rate | None = None
    """How many dispatches a second; without it, as many as the slots allow."""
    breaker: Breaker | None = None
    """Which errors slow the rate down."""
    lane: LanePath | None = None
    """Where an action's lane is in its parameters, like `$.customer`, if its submission names none.
    Lanes of one action name take turns."""
    limits: Limits = Limits()
    """Limits for all conductors together, of the action name and of each lane."""
    priority_aging: Aging | None = None
    """An action that waits this long goes before one that comes then with a priority smaller by one: a steady
    stream of urgent ones does not hold it back for ever. Without it, priorities do not age."""

    def templates(self) -> Iterator[tuple[Path, str]]:
        """Templates that may use secrets: their paths in the action, and their texts."""
        yield from ()

    def problems(self) -> Iterator[Problem]:
        """Errors and warnings that concern several keys of the action; paths begin at the action."""
        yield from ()

    def submits(self) -> Iterator[tuple[str, str]]:
        """Other actions that it submits: the key that names one, and the action's name."""
        yield from ()

    @property
    def default_template(self) -> str | tuple[str, ...] | None:
        """The template of workflows that have none."""
        return None
