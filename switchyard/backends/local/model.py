"""`local`: a supervised process on this machine."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema

from switchyard.config.action import Action
from switchyard.config.limits import Limits
from switchyard.config.names import EnvName, LocalPath, PlainText
from switchyard.config.secrets import SecretOrText
from switchyard.config.units import Interval, Size


def split_command(value: Any) -> Any:
    """Split a command written as one text into words; no shell is involved."""
    if not isinstance(value, str):
        return value
    try:
        return tuple(shlex.split(value))
    except ValueError as error:
        raise ValueError(f"the command cannot be split into words: {error}") from None


Command = Annotated[
    tuple[PlainText, ...],
    Field(min_length=1, max_length=1000),
    BeforeValidator(split_command),
    WithJsonSchema(
        {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}, "minItems": 1}]}
    ),
]


class LocalLimits(Limits):
    """Limits of one process, and limits for the fleet."""

    time: Interval | None = None
    """The longest run; without it, the workflow's timeout."""
    memory: Annotated[Size, Field(ge=1024 * 1024)] | None = None
    """The largest address space of each process."""


class LocalAction(Action):
    """A detached process in a spool folder; it outlives the conductor that started it."""

    runs_workflows: ClassVar[bool] = True
    takes_callbacks: ClassVar[bool] = False
    instead_of_at_most_once: ClassVar[str] = "its name makes it run once; leave delivery out"
    template_of: ClassVar[str | None] = "command"
    template_form: ClassVar[Any] = Command

    type: Literal["local"] = "local"
    command: Command | None = None
    """The command for workflows without `template`: a list of words, or one text split into words."""
    env: Mapping[EnvName, SecretOrText] = {}
    """The environment of the process, besides SWITCHYARD_… and `pass_env`: texts, or secrets by reference."""
    pass_env: tuple[EnvName, ...] = ()
    """Variables of our own environment that are passed on unchanged; for secrets, use `env`."""
    spool: LocalPath = Path("/var/lib/switchyard/spool")
    """The folder that processes run under; it belongs to one host."""
    limits: LocalLimits = LocalLimits()
    """Limits on time and memory, and those that all conductors share."""
    grace: Interval = 10.0
    """The time between SIGTERM and SIGKILL when a process is stopped."""

    def argv(self, template: str | tuple[str, ...] | None) -> tuple[str, ...] | None:
        """The command of a workflow: its own, else the action's; None if neither has one."""
        words: tuple[str, ...] | None = split_command(template)
        return words or self.command

    @property
    def default_template(self) -> tuple[str, ...] | None:
        return self.command
