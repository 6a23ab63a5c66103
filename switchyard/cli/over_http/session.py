"""The client of the URL that the command was given, and ids that people shorten."""

import os
import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from switchyard.cli.program import ADDRESS
from switchyard.errors import BadInput
from switchyard.remote import Client, connect

TOKEN = "SWITCHYARD_TOKEN"  # noqa: S105 - the name of the variable
SHORTEST = 4
IDS = ("action_uuid", "example")


def signalbox() -> Client:
    """A client of the signalbox at the given URL, with the token of the environment."""
    url = ADDRESS.get()
    if not re.match(r"https?://[^/]", url):
        raise BadInput(f"--url: {url!r} is not an address like https://jobs.example")
    return connect(url, token=os.environ.get(TOKEN) or None)


def identified(client: Client, given: str) -> UUID:
    """The job's id; where only a part was given, the one of the newest jobs that has it."""
    digits = given.removeprefix("…").replace("-", "").lower()
    if re.fullmatch(r"[0-9a-f]{32}", digits):
        return UUID(digits)
    if not re.fullmatch(rf"[0-9a-f]{{{SHORTEST},31}}", digits):
        raise BadInput(f"{given!r} is not the id of a job, nor {SHORTEST} or more characters of one")
    found = client.list(id=digits, limit=3)
    if len(found) > 1:
        shown = ", ".join(str(job.id) for job in found)
        raise BadInput(f"several jobs have an id that begins or ends with {given!r}: {shown}, …")
    if not found:
        raise BadInput(f"none of the newest jobs has an id that begins or ends with {given!r}")
    return found[0].id


def complete(row: Mapping[str, Any], absent: Iterable[str]) -> dict[str, Any]:
    """The row with its times and ids as such, and None where an answer leaves out what there is not."""
    ids = {name: UUID(row[name]) for name in IDS if row.get(name)}
    return {**dict.fromkeys(absent), **timed([row])[0], **ids}


def timed(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows of an answer with their times as times, for a table."""
    return [{name: _time(name, value) for name, value in row.items()} for row in rows]


def _time(name: str, value: Any) -> Any:
    is_time = name == "since" or name.endswith(("_at", "_time"))
    return datetime.fromisoformat(value) if is_time and isinstance(value, str) else value
