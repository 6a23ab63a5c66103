"""The asynchronous client of signalbox."""

import asyncio
import time
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Self, TypeVar
from uuid import UUID

import httpx

from switchyard.errors import Transient
from switchyard.remote import calls
from switchyard.remote.calls import Job, Sent

Result = TypeVar("Result")
Events = list[dict[str, Any]]
Jobs = list[Job]


def connect_async(url: str, token: str | None = None, *, timeout: float = 30.0) -> "AsyncClient":
    """A client of the signalbox at that URL; `async with` closes it."""
    return AsyncClient(
        httpx.AsyncClient(base_url=url.rstrip("/"), headers=calls.headers(token), timeout=timeout)
    )


class AsyncClient:
    """The verbs of the command line, over HTTP."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def submit(
        self,
        workflow: str,
        parameters: Mapping[str, Any] | None = None,
        *,
        idempotency_key: str | None = None,
        lane: str | None = None,
        priority: int | None = None,
        tags: Sequence[str] | None = None,
        correlation_id: str | None = None,
    ) -> UUID:
        """Submit a job; its id. With an idempotency key it may be sent again: the first job is found."""
        options = {
            "lane": lane,
            "priority": priority,
            "tags": None if tags is None else list(tags),
            "correlation_id": correlation_id,
        }
        return await self._send(calls.submit(workflow, parameters, idempotency_key, options))

    async def status(self, job: UUID | str) -> Job:
        """The status of a job."""
        return await self._send(calls.status(job))

    async def list(self, *, limit: int = 50, **query: Any) -> Jobs:
        """The newest jobs that match: processID, status, lane, tag and the other filters of /jobs."""
        return await self._send(calls.list_jobs({"limit": limit, **query}))

    async def wait(self, job: UUID | str, timeout: float | None = None) -> Job:  # noqa: ASYNC109 - the same verbs as the other client
        """The status of a job once it has ended; TimeoutError where that takes longer."""
        pause, ends = calls.BEGIN, None if timeout is None else time.monotonic() + timeout
        while True:
            found = await self.status(job)
            if found.ended:
                return found
            if ends is not None and time.monotonic() + pause > ends:
                raise TimeoutError(f"job {job} is {found.status} after {timeout:g} s")
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, calls.LONGEST)

    async def events(self, job: UUID | str) -> Events:
        """The events of a job, oldest first."""
        return await self._send(calls.events(job))

    async def results(self, job: UUID | str) -> Any:
        """The results of a successful job."""
        return await self._send(calls.results(job))

    async def cancel(self, job: UUID | str, *, reason: str) -> bool:
        """Cancel an open job; false where it had ended."""
        return await self._send(calls.cancel(job, reason))

    async def retrigger(self, job: UUID | str, *, reason: str) -> int:
        """Open the next run of a job that ended without success; its number."""
        return await self._send(calls.retrigger(job, reason))

    async def _send(self, sent: Sent[Result]) -> Result:
        try:
            received = await self._http.request(
                sent.method, sent.path, json=sent.body, headers=dict(sent.headers), params=dict(sent.query)
            )
        except httpx.TransportError as error:
            raise Transient(f"signalbox cannot be reached: {error}") from error
        return calls.answer(sent, received)
