"""The base of all records."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Plain data that a route answers."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Link(Record):
    """A link, as OGC API has it."""

    href: str
    """Where it leads."""
    rel: str
    """What it is to this document."""
    type: str | None = None
    """The media type there."""
    title: str | None = None
    """For people."""
