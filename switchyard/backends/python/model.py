"""`python`: calls your function in a separate process."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from switchyard.config.action import Action
from switchyard.config.limits import Limits
from switchyard.config.names import EnvName
from switchyard.config.secrets import SecretOrText
from switchyard.config.units import Interval, Size

_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
FunctionName = Annotated[str, Field(max_length=500, pattern=rf"^{_NAME}(\.{_NAME})*:{_NAME}$")]


class PythonLimits(Limits):
    """Limits of one call, and limits for the fleet."""

    cpu_time: Interval | None = None
    """The most CPU time of one call; without it, `timeout` on every core."""
    memory: Annotated[Size, Field(ge=16 * 1024 * 1024)] = 1024 * 1024 * 1024
    """How much address space one call may add to what its process has after the import."""


class PythonAction(Action):
    """A function, called with the action's parameters as named arguments."""

    answers_itself: ClassVar[bool] = True

    type: Literal["python"] = "python"
    function: FunctionName
    """`package.module:function`; conductor's Python must be able to import it."""
    concurrency: Annotated[int, Field(ge=1, le=256)] = 4
    """How many calls one worker has at a time, each in a process of its own."""
    timeout: Interval = 300.0
    """How long one call may take; then its process is ended."""
    limits: PythonLimits = PythonLimits()
    """Limits of one call, and those that all conductors share."""
    env: Mapping[EnvName, SecretOrText] = {}
    """The environment of the processes: texts, or secrets by reference, read when the processes start."""
    pass_env: tuple[EnvName, ...] = ()
    """Variables of conductor's own environment that are passed on; nothing else of it is."""
