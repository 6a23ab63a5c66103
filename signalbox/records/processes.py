"""Processes: the workflows that can be submitted."""

from typing import Any, Literal

from pydantic import Field

from signalbox.records.base import Link, Record


class ProcessSummary(Record):
    """A process in a list."""

    id: str
    """The workflow's name."""
    version: str
    """Its version."""
    title: str
    """Its title."""
    description: str | None = None
    """Its description."""
    jobControlOptions: list[Literal["async-execute", "sync-execute", "dismiss"]]  # noqa: N815
    """How it can be executed."""
    outputTransmission: list[Literal["value", "reference"]]  # noqa: N815
    """How results can be requested."""
    links: list[Link]
    """Links."""


class ProcessList(Record):
    """The processes that can be executed."""

    processes: list[ProcessSummary]
    """In the order of their names."""
    links: list[Link]
    """Links to this list, and to the next page if there is one."""


class InputDescription(Record):
    """An input of a process."""

    title: str
    """Its title."""
    description: str | None = None
    """Its description."""
    minOccurs: int  # noqa: N815
    """0 if it is optional."""
    maxOccurs: int = 1  # noqa: N815
    """Always 1: a list is one value."""
    json_schema: Any = Field(alias="schema")
    """The JSON Schema that it must meet."""


class OutputDescription(Record):
    """An output of a process."""

    title: str
    """Its title."""
    description: str | None = None
    """Its description."""
    json_schema: Any = Field(alias="schema")
    """The JSON Schema that it meets."""


class ProcessDescription(ProcessSummary):
    """Everything about a process."""

    inputs: dict[str, InputDescription]
    """By name."""
    outputs: dict[str, OutputDescription]
    """By name."""
