"""Local executions: a supervised, detached process in a spool folder."""

from conductor.handlers.local.handler import LocalHandler

__all__ = ["LocalHandler"]
