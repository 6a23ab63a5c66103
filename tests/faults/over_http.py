"""Submissions over HTTP: the same request to one signalbox after another, until one of them confirms it."""

import time
from collections.abc import Sequence
from itertools import cycle
from typing import Any
from uuid import UUID

import httpx

PAUSE = 0.05
PATIENCE = 3.0
LATER = {429, 503}  # it is there, and what it needs is not


class OverHttp:
    """A client of several signalboxes; the idempotency key makes a request that was not answered safe to repeat."""

    def __init__(self, urls: Sequence[str]) -> None:
        self._urls = cycle(urls)
        self._client = httpx.Client(timeout=PATIENCE)
        self.repeated = 0
        self.strange: list[str] = []

    def submit(self, workflow: str, parameters: Any, key: str) -> UUID:
        """The job's id."""
        body = {"inputs": parameters, "switchyard": {"correlation_id": f"c-{key}"}}
        path = f"/processes/{workflow}/execution"
        return UUID(self._confirmed(path, body, {"Idempotency-Key": key}, 201)["jobID"])

    def cancel(self, job: UUID) -> None:
        """Ends it, or finds that it has ended."""
        self._confirmed(f"/jobs/{job}/cancel", {"reason": "it was to be canceled"}, {}, 200)

    def close(self) -> None:
        self._client.close()

    def _confirmed(self, path: str, body: Any, headers: dict[str, str], status: int) -> Any:
        """The answer, however often it takes; any answer but success and "later" is remembered."""
        while True:
            try:
                answer = self._client.post(next(self._urls) + path, json=body, headers=headers)
            except httpx.TransportError:
                pass
            else:
                if answer.status_code == status:
                    return answer.json()
                if answer.status_code not in LATER:
                    self.strange.append(
                        f"POST {path} was answered by {answer.status_code}: {answer.text[:300]}"
                    )
            self.repeated += 1
            time.sleep(PAUSE)
