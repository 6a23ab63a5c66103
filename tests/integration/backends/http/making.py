"""Making a real http handler on a real store, and the work that it is given."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

from switchyard.backends.http.handler import HttpHandler
from switchyard.backends.http.model import HttpAction
from switchyard.handlers import HandlerContext, Outcome, Work
from switchyard.store import Store, open_store
from switchyard.transcript import read_transcript

LOOPBACK = ("127.0.0.0/8", "::1/128")


def work(parameters: Mapping[str, Any] | None = None, **changes: Any) -> Work:
    """One claimed action."""
    fields: dict[str, Any] = {
        "uuid": uuid4(),
        "run": 1,
        "attempt": 1,
        "last_attempt": False,
        "action_name": "webhook",
        "workflow": None,
        "callback": None,
        "parent_uuid": None,
        "parameters": dict(parameters or {}),
        "correlation_id": "corr-1",
        "created_at": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
    }
    return Work(**fields | changes)


def action(**settings: Any) -> HttpAction:
    """An http action for loopback servers; anything can be set otherwise."""
    request = {"url": "{{ parameters.url }}", "body": {"id": "{{ action.uuid }}"}} | settings.pop(
        "request", {}
    )
    defaults: dict[str, Any] = {"allow_networks": LOOPBACK, "timeout": "5s"}
    return HttpAction.model_validate({"request": request} | defaults | settings)


def context(folder: Path, secrets: Mapping[str, Any] | None = None) -> HandlerContext:
    """What a handler is given: here a store in a folder, and secrets."""
    config = SimpleNamespace(correlation_header="x-cdp-request-id")
    return HandlerContext(config=config, store=open_store(f"file://{folder}"), secrets=secrets or {})


@asynccontextmanager
async def handler(
    folder: Path,
    *,
    secrets: Mapping[str, Any] | None = None,
    store: Store | None = None,
    **settings: Any,
) -> AsyncIterator[HttpHandler]:
    """A started handler."""
    given = context(folder, secrets)
    given = given if store is None else replace(given, store=store)
    made = HttpHandler("webhook", action(**settings), given)
    await made.start()
    try:
        yield made
    finally:
        await made.close()


def kept(folder: Path, outcome: Outcome) -> Any:
    """The transcript that the outcome points to."""
    store: Store = open_store(f"file://{folder}")
    return read_transcript(store, outcome.detail)


FIXED = UUID("01890000-0000-7000-8000-000000000001")
