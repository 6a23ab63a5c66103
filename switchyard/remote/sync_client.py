"""The synchronous client of signalbox."""

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


def connect(url: str, token: str | None = None, *, timeout: float = 30.0) -> "Client":
    """A client of the signalbox at that URL; `with` closes it."""
    return Client(httpx.Client(base_url=url.rstrip("/"), headers=calls.headers(token), timeout=timeout))


class Client:
    """The verbs of the command line, over HTTP."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    @with_options
    def submit(
        self,
        name: str | None = None,
        parameters: Mapping[str, Any] = {},
        **options: Unpack[Options],
    ) -> UUID:
        """Submit a job of a workflow; returns its id. With an idempotency key, it is safe to repeat."""
        return self._send(calls.submit_one(submission(name, parameters, options)))

    def submit_many(self, submissions: Iterable[Submission]) -> Ids:
        """Submit one after the other; their ids. With idempotency keys, can be repeated after an error."""
        return [self._send(calls.submit_one(each)) for each in submissions]

    def status(self, action: UUID | str) -> Job:
        """The status of a job."""
        return self._send(calls.status(action))

    def list(self, *, limit: int = 50, **query: Any) -> Jobs:
        """The newest jobs that match: processID, status, lane, tag and the other filters of /jobs."""
        return self._send(calls.list_jobs({"limit": limit, **query}))

    def wait(self, action: UUID | str, timeout: float | None = None) -> Job:
        """The status of a job once it has ended; WaitTimeout if that takes longer than `timeout`."""
        pause, ends = calls.BEGIN, None if timeout is None else time.monotonic() + timeout
        while True:
            found = self.status(action)
            if found.ended:
                return found
            if ends is not None and time.monotonic() + pause > ends:
                raise WaitTimeout(f"job {action} is {found.status} after {timeout:g} s")
            time.sleep(pause)
            pause = min(pause * 1.5, calls.LONGEST)

    def events(self, action: UUID | str) -> Events:
        """The events of a job, oldest first."""
        return self._send(calls.events(action))

    def results(self, action: UUID | str) -> Any:
        """The results of a successful job."""
        return self._send(calls.results(action))

    def why(self, action: UUID | str) -> str:
        """Why a job has not ended, in one sentence."""
        return self._send(calls.why(action))

    def cancel(self, action: UUID | str, *, reason: str) -> bool:
        """Cancel an open job; returns false if it had ended."""
        return self._send(calls.cancel(action, reason))

    def retrigger(self, action: UUID | str, *, reason: str, resume_from: calls.ResumeFrom = "failed") -> int:
        """Open the next run of a job that ended without success, from `start` or `failed`; its number."""
        return self._send(calls.retrigger(action, reason, resume_from))

    def get(self, path: str, **query: Any) -> Any:
        """The response of any other reading route, like /inbox."""
        return self._send(calls.get(path, query))

    def post(self, path: str, body: Any) -> Any:
        """The response of any other changing route, like /queues/webhook/pause."""
        return self._send(calls.post(path, body))

    def _send(self, sent: Sent[Result]) -> Result:
        try:
            received = self._http.request(
                sent.method, sent.path, json=sent.body, headers=dict(sent.headers), params=dict(sent.query)
            )
        except httpx.TransportError as error:
            raise Transient(f"signalbox cannot be reached: {error}") from error
        return calls.answer(sent, received)
