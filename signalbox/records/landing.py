"""The landing page."""

from signalbox.records.base import Link, Record


class Landing(Record):
    """The server's name, description and links."""

    title: str
    """The name of the service."""
    description: str
    """The description of the service."""
    links: list[Link]
    """Links."""
