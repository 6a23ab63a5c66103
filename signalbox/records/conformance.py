"""Conformance."""

from signalbox.records.base import Record


class Conformance(Record):
    """The conformance classes of the standard that this server implements."""

    conformsTo: list[str]  # noqa: N815
    """Their addresses."""
