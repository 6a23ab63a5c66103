"""Authentication of callers, and their roles."""
