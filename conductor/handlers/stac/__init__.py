"""The stac handler: publishes items to a STAC API."""

from conductor.handlers.stac.handler import StacHandler

__all__ = ["StacHandler"]
