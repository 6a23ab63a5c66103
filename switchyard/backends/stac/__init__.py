"""Publishes items to a STAC API."""
