"""The base of all records."""

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """Plain data that a route answers."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class Link(Record):
    """A link, as defined by OGC API."""

    href: str
    """The address."""
    rel: str
    """The relation to this document."""
    type: str | None = None
    """The media type of the target."""
    title: str | None = None
    """The title."""
