"""Publishes items to a STAC API, on the delivery of the http backend.

handler.py   creates the item, or updates it where it exists
item.py      the parameter `item`, a GeoJSON Feature, becomes a STAC Item; bbox.py computes its box
"""
