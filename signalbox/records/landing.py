"""The landing page."""

from signalbox.records.base import Link, Record


class Landing(Record):
    """What this server is, and where to go on."""

    title: str
    """The name of the service."""
    description: str
    """What it is for."""
    links: list[Link]
    """Where to go on."""
