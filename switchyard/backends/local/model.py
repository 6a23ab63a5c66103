"""`local`: a supervised process on this machine."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from switchyard.backends.local.command import Command, split_command
from switchyard.config.action import Action
from switchyard.config.model import Model
from switchyard.config.names import EnvName, LocalPath
from switchyard.config.secrets import SecretOrText
from switchyard.config.units import Interval, Size


class LocalLimits(Model):
    """What one process may use."""

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
    """What is run where a workflow gives no `template`: words, or one text that is split into words."""
    env: Mapping[EnvName, SecretOrText] = {}
    """The environment of the process, beside SWITCHYARD_… and `pass_env`: texts, or secrets by reference."""
    pass_env: tuple[EnvName, ...] = ()
    """Variables of our own environment that are passed on as they are; for secrets, use `env`."""
    spool: LocalPath = Path("/var/lib/switchyard/spool")
    """The folder that processes run under; it belongs to one host."""
    limits: LocalLimits = LocalLimits()
    """Limits on time and memory."""
    grace: Interval = 10.0
    """Between SIGTERM and SIGKILL when it is stopped."""

    def argv(self, template: str | tuple[str, ...] | None) -> tuple[str, ...] | None:
        """The words of a workflow's command: its own, else ours; None where neither has one."""
        words: tuple[str, ...] | None = split_command(template)
        return words or self.command

    @property
    def default_template(self) -> tuple[str, ...] | None:
        return self.command
