"""A job, parsed from an untrusted message."""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote
from uuid import UUID

from switchyard.aws.queue import Message
from switchyard.errors import BadInput
from switchyard.places import Places
from switchyard.store import Store
from switchyard.store.key import vet


@dataclass(frozen=True, slots=True)
class Job:
    """A job. `home` contains attempts, checkpoint, cancel and end; `output` is the prefix of the result."""

    message_id: str
    correlation_id: str | None
    delivery: int
    received: float
    content: Mapping[str, Any]
    uuid: UUID | None
    run: int | None
    home: str
    output: str
    timeout: float | None
    problem: str | None = None
    """Why the job cannot be processed; this is still reported."""

    @property
    def name(self) -> str:
        """A name that is the same for all deliveries of a job."""
        return f"{self.uuid}-r{self.run}" if self.uuid else self.message_id

    @property
    def checkpoint(self) -> str:
        return f"{self.home}/checkpoint"


def parse(message: Message, store: Store) -> Job:
    """Parse a message. Never raises: errors are recorded in `problem`."""
    content: Mapping[str, Any] = {}
    uuid, run, timeout, output, problem = None, None, None, None, None
    try:
        content = _object(message.body)
        uuid, run = _execution(content)
        timeout = _timeout(content.get("timeout_s"))
        given = content.get("output")
        output = None if given is None else key_in(store, given, "output")
    except BadInput as error:
        problem = str(error)
    home = Places(uuid, run).folder if uuid and run else f"messages/{_safe(message.id)}"
    return Job(
        message_id=message.id,
        correlation_id=message.correlation_id,
        delivery=message.deliveries,
        received=message.received,
        content=content,
        uuid=uuid,
        run=run,
        home=home,
        output=output or home,
        timeout=timeout,
        problem=problem,
    )


def _object(body: str) -> dict[str, Any]:
    try:
        content = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"the message is not JSON: {error}") from None
    if not isinstance(content, dict):
        raise BadInput("the message is not a JSON object")
    if content.get("version", 1) != 1:
        raise BadInput(f"the message has version {content['version']!r:.40}; this worker knows version 1")
    return content


def _execution(content: Mapping[str, Any]) -> tuple[UUID | None, int | None]:
    if content.get("action_uuid") is None:
        return None, None
    try:
        uuid = UUID(content["action_uuid"])
    except (ValueError, AttributeError, TypeError):
        raise BadInput(f"action_uuid {content['action_uuid']!r:.80} is not a valid UUID") from None
    run = content.get("run", 1)
    if not isinstance(run, int) or isinstance(run, bool) or not 1 <= run < 2**31:
        raise BadInput(f"run {run!r:.80} is not a run number")
    return uuid, run


def _timeout(said: object) -> float | None:
    if said is None:
        return None
    if isinstance(said, bool) or not isinstance(said, int | float) or not 0 < said <= sys.float_info.max:
        raise BadInput(f"timeout_s {said!r:.80} is not a number of seconds")
    return float(said)


def key_in(store: Store, url: object, what: str) -> str:
    """The key of a URL in our store; messages cannot cause access to other places."""
    base = store.url.rstrip("/") + "/"
    if not isinstance(url, str) or not url.startswith(base):
        raise BadInput(f"{what} {url!r:.200} is not in this worker's store")
    key = url.removeprefix(base).strip("/")
    return vet(unquote(key) if base.startswith("file:") else key)


def _safe(name: str) -> str:
    return "".join(c if (c.isalnum() and c.isascii()) or c == "-" else "_" for c in name)[:100] or "unnamed"
