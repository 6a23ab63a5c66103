"""The asynchronous client of signalbox."""

import asyncio
import time
from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar, Unpack
from uuid import UUID

import httpx

from switchyard.errors import Transient, WaitTimeout
from switchyard.remote import calls
from switchyard.remote.calls import Job, Sent
from switchyard.submit.options import Options, submission, with_options
from switchyard.submit.submission import Submission

Result = TypeVar("Result")
Events = list[dict[str, Any]]
Jobs = list[Job]
Ids = list[UUID]


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

    @with_options
    async def submit(
        self,
        name: str | None = None,
        parameters: Mapping[str, Any] = {},
        **options: Unpack[Options],
    ) -> UUID:
        """Submit a job of a workflow; returns its id. With an idempotency key, it is safe to repeat."""
        return await self._send(calls.submit_one(submission(name, parameters, options)))

    async def submit_many(self, submissions: Iterable[Submission]) -> Ids:
        """Submit one after the other; their ids. With idempotency keys, can be repeated after an error."""
        return [await self._send(calls.submit_one(each)) for each in submissions]

    async def status(self, action: UUID | str) -> Job:
        """The status of a job."""
        return await self._send(calls.status(action))

    async def list(self, *, limit: int = 50, **query: Any) -> Jobs:
        """The newest jobs that match: processID, status, lane, tag and the other filters of /jobs."""
        return await self._send(calls.list_jobs({"limit": limit, **query}))

    async def wait(self, action: UUID | str, timeout: float | None = None) -> Job:  # noqa: ASYNC109 - the same verbs as the other client
        """The status of a job once it has ended; WaitTimeout if that takes longer than `timeout`."""
        pause, ends = calls.BEGIN, None if timeout is None else time.monotonic() + timeout
        while True:
            found = await self.status(action)
            if found.ended:
                return found
            if ends is not None and time.monotonic() + pause > ends:
                raise WaitTimeout(f"job {action} is {found.status} after {timeout:g} s")
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, calls.LONGEST)

    async def events(self, action: UUID | str) -> Events:
        """The events of a job, oldest first."""
        return await self._send(calls.events(action))

    async def results(self, action: UUID | str) -> Any:
        """The results of a successful job."""
        return await self._send(calls.results(action))

    async def why(self, action: UUID | str) -> str:
        """Why a job has not ended, in one sentence."""
        return await self._send(calls.why(action))

    async def cancel(self, action: UUID | str, *, reason: str) -> bool:
        """Cancel an open job; returns false if it had ended."""
        return await self._send(calls.cancel(action, reason))

    async def retrigger(
        self, action: UUID | str, *, reason: str, resume_from: calls.ResumeFrom = "failed"
    ) -> int:
        """Open the next run of a job that ended without success, from `start` or `failed`; its number."""
        return await self._send(calls.retrigger(action, reason, resume_from))

    async def get(self, path: str, **query: Any) -> Any:
        """The response of any other reading route, like /inbox."""
        return await self._send(calls.get(path, query))

    async def post(self, path: str, body: Any) -> Any:
        """The response of any other changing route, like /queues/webhook/pause."""
        return await self._send(calls.post(path, body))

    async def _send(self, sent: Sent[Result]) -> Result:
        try:
            received = await self._http.request(
                sent.method, sent.path, json=sent.body, headers=dict(sent.headers), params=dict(sent.query)
            )
        except httpx.TransportError as error:
            raise Transient(f"signalbox cannot be reached: {error}") from error
        return calls.answer(sent, received)
