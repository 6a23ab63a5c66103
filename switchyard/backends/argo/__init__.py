"""Argo Workflows: creates Workflows whose names make every repetition harmless."""
