"""Webhooks and API calls: request, send, answer, archive, safe against hostile peers."""
