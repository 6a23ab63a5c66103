"""The stored objects of a job's run."""

from typing import Any

from signalbox.records.base import Record


class Stored(Record):
    """A file of the run."""

    name: str
    """Below the folder of the run."""
    size: int | None
    """In bytes."""
    path: str | None
    """Where it can be read; None for what is for the programs alone."""


class Exchange(Record):
    """An HTTP request of a callback and its answer, as the transcript has them."""

    action: str
    """The callback that sent it."""
    transcript: dict[str, Any]
    """Request, response, duration; or an error."""


class Archive(Record):
    """Results, files, the end of the log, and what callbacks sent."""

    run: int
    """The run that it is of."""
    summary: dict[str, Any]
    """What the output adds up."""
    features: list[dict[str, Any]]
    """The first features of the output."""
    files: list[Stored]
    """All files, by name."""
    log: str
    """The last lines of the log."""
    exchanges: list[Exchange]
    """The latest transcripts of callbacks, those without success first."""
    problem: str | None
    """Why something is missing, where the store could not be read."""
