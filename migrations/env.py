"""Alembic's entry: connects as the settings say and runs the plain SQL files."""
