"""Hostile inputs as data: what comes in, and the one outcome that it must have."""
