"""A small, plain client of the Kubernetes API for the tests: paths, dictionaries, the server's answers."""

import json
import ssl
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

Object = dict[str, Any]

PATIENCE = 30.0
WORKFLOWS = "/apis/argoproj.io/v1alpha1/namespaces/{}/workflows"


class _Patient(httpx.HTTPTransport):
    """Sends a request again after a 429 with Retry-After, as client-go does: a server fills its caches at first."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        by = time.monotonic() + PATIENCE
        while True:
            response = super().handle_request(request)
            if response.status_code != 429 or "retry-after" not in response.headers or time.monotonic() > by:
                return response
            response.close()
            time.sleep(float(response.headers["retry-after"]))


class KubeApi:
    """Speaks to one API server with one token; an answer of 400 or more raises httpx.HTTPStatusError."""

    def __init__(self, url: str, authority: Path, token: str) -> None:
        self._client = httpx.Client(
            base_url=url,
            headers={"Authorization": f"Bearer {token}"},
            transport=_Patient(verify=ssl.create_default_context(cafile=str(authority)), trust_env=False),
            timeout=30,
        )

    def ready(self) -> bool:
        """Whether the server says that it is."""
        return self._client.get("/readyz").is_success

    def get(self, path: str, **query: str) -> Object:
        return self._answer(self._client.get(path, params=query))

    def create(self, path: str, body: Object) -> Object:
        return self._answer(self._client.post(path, json=body))

    def patch(self, path: str, body: Object) -> Object:
        """A merge patch."""
        headers = {"Content-Type": "application/merge-patch+json"}
        return self._answer(self._client.patch(path, content=json.dumps(body), headers=headers))

    def apply(self, path: str, body: Object, query: dict[str, str]) -> Object:
        """A server-side apply."""
        headers = {"Content-Type": "application/apply-patch+yaml"}
        return self._answer(self._client.patch(path, content=json.dumps(body), headers=headers, params=query))

    def request(self, method: str, path: str, body: Object) -> Object:
        """Anything else."""
        return self._answer(self._client.request(method, path, json=body))

    def delete(self, path: str) -> Object:
        return self._answer(self._client.delete(path))

    def watch(self, path: str, version: str, seconds: int = 300) -> Iterator[Object]:
        """The events after resource version `version`, until the server ends the stream."""
        query = {"watch": "1", "resourceVersion": version, "timeoutSeconds": str(seconds)}
        patience = httpx.Timeout(30, read=seconds + 30)
        with self._client.stream("GET", path, params=query, timeout=patience) as stream:
            if stream.is_error:
                stream.read()
                self._answer(stream)
            for line in stream.iter_lines():
                yield json.loads(line)

    def close(self) -> None:
        self._client.close()

    @staticmethod
    def _answer(response: httpx.Response) -> Object:
        if response.is_error:
            raise httpx.HTTPStatusError(response.text, request=response.request, response=response)
        answer: Object = response.json()
        return answer
