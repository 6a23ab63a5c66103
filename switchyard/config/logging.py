"""How the programs log."""

from typing import Literal

from switchyard.config.model import Model


class Logging(Model):
    """To standard error, one line an entry."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    """What is worth a line."""
    format: Literal["auto", "json", "text"] = "auto"
    """`auto`: readable on a terminal, JSON otherwise."""

    @property
    def json_lines(self) -> bool | None:
        """As `runtime.log.configure(json=…)` takes it."""
        return None if self.format == "auto" else self.format == "json"
