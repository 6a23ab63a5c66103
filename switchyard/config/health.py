"""Where a program answers /livez, /readyz and /metrics."""

from typing import Annotated

from pydantic import Field

from switchyard.config.model import Model


class Health(Model):
    """The health and metrics server of a program."""

    host: str = "127.0.0.1"
    """The address it listens at; 0.0.0.0 for all."""
    port: Annotated[int, Field(ge=0, le=65535)] | None = 0
    """The port; 0 takes any that is free and logs it, null switches the server off."""
