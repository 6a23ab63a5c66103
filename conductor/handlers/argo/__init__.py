"""The argo handler: creates Workflows whose names make every repetition harmless."""

from conductor.handlers.argo.handler import ArgoHandler

__all__ = ["ArgoHandler"]
