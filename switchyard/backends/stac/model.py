"""`stac`: publishes an item to a STAC API."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from switchyard.backends.http.outbound import OutboundAction
from switchyard.config.names import Endpoint
from switchyard.config.templates import Template


class StacAction(OutboundAction):
    """Builds a STAC Item from the parameter `item`, a GeoJSON Feature, and creates or updates it."""

    needed_parameters: ClassVar[frozenset[str]] = frozenset({"item"})

    type: Literal["stac"] = "stac"
    url: Endpoint
    """The root of the STAC API."""
    collection: Annotated[Template, Field(min_length=1)]
    """The collection that items go to; a template over parameters and action."""
    item_id: Template | None = None
    """The item's id; without it, the feature's own, else one made from the action's uuid."""
    datetime: Template | None = None
    """The item's time (RFC 3339); without it, the feature's `datetime`, else the action's creation."""
