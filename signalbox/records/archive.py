"""The stored objects of a job's run."""

from typing import Any

from signalbox.records.base import Record


class Stored(Record):
    """A file of the run."""

    name: str
    """The path in the folder of the run."""
    size: int | None
    """In bytes."""
    path: str | None
    """The address; None for internal files."""


class Exchange(Record):
    """An HTTP request of a callback and its response, from the transcript."""

    action: str
    """The callback that sent it."""
    transcript: dict[str, Any]
    """Request, response, duration; or an error."""


class Archive(Record):
    """Results, files, the end of the log, and the HTTP exchanges of callbacks."""

    run: int
    """The run."""
    summary: dict[str, Any]
    """The summary of the output."""
    features: list[dict[str, Any]]
    """The first features of the output."""
    files: list[Stored]
    """All files, by name."""
    log: str
    """The last lines of the log."""
    exchanges: list[Exchange]
    """The latest transcripts of callbacks, those without success first."""
    problem: str | None
    """The reason if something is missing because the store could not be read."""
