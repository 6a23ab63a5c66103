"""The http handler: webhooks and API calls, with everything that hostile addresses and answers call for."""

from conductor.handlers.http.handler import HttpHandler

__all__ = ["HttpHandler"]
