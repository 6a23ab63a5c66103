"""Creates Work for testing a handler without a database."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from switchyard.handlers import Handler, Outcome, Work


def make_work(
    parameters: Mapping[str, Any] = {},
    *,
    action_name: str = "test",
    uuid: UUID | None = None,
    run: int = 1,
    attempt: int = 1,
    last_attempt: bool = False,
    workflow: str | None = None,
    callback: str | None = None,
    parent_uuid: UUID | None = None,
    correlation_id: str | None = None,
    created_at: datetime | None = None,
) -> Work:
    """One claimed action as a handler receives it; by default its first attempt."""
    return Work(
        uuid=uuid or uuid4(),
        run=run,
        attempt=attempt,
        last_attempt=last_attempt,
        action_name=action_name,
        workflow=workflow,
        callback=callback,
        parent_uuid=parent_uuid,
        parameters=dict(parameters),
        correlation_id=correlation_id,
        created_at=created_at or datetime.now(UTC),
    )


async def dispatched(handler: Handler, work: Work) -> Outcome:
    """Start the handler, dispatch this work, close the handler; returns the outcome."""
    await handler.start()
    try:
        return await handler.dispatch(work)
    finally:
        await handler.close()
