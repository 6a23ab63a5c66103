"""Reuse: when the result of one action is given to another with the same inputs."""

from typing import Annotated, Any

from pydantic import Field, StringConstraints

from switchyard.config.model import Model
from switchyard.config.units import Interval

# What every jsonpath of Postgres means by it is the same, and it cannot fail.
PATH = r"^\$(\.[A-Za-z_][A-Za-z0-9_]*|\.\"[^\"\\\x00]+\"|\[([0-9]{1,6}|\*)\])*$"

KeyPath = Annotated[str, StringConstraints(pattern=PATH, max_length=500)]
MONTH = 30 * 86400.0


class Reuse(Model):
    """Actions of this workflow with the same version and key are one computation."""

    version: Annotated[str, Field(min_length=1, max_length=50)]
    """The version of the computation: change it whenever the same parameters would give another result."""
    key: Annotated[tuple[KeyPath, ...], Field(min_length=1, max_length=20)]
    """Where in the parameters is what the result depends on, like `$.item`; `$` is all of them."""
    for_: Annotated[Interval, Field(alias="for")] = MONTH
    """How old a result may be."""
    shared: bool = False
    """Whether a result may be given to another lane."""

    def rule(self) -> dict[str, Any]:
        """As it is announced to the database."""
        return {"version": self.version, "key": list(self.key), "for": self.for_, "shared": self.shared}
