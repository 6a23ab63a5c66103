"""The stored objects of a job: its page shows them, and every file can be opened."""

import asyncio
import json
from functools import partial
from itertools import islice
from typing import Any
from urllib.parse import quote
from uuid import UUID

from signalbox.access.roles import Role
from signalbox.endpoint import Call, Later, get
from signalbox.records.archive import Archive, Exchange, Stored
from signalbox.routes.jobs import known_job
from signalbox.routes.results import output_places
from switchyard.errors import SwitchyardError
from switchyard.ledger.queries import query as named
from switchyard.places import Places
from switchyard.store import Store
from switchyard.transcript import read_transcript

LARGEST = 32 * 2**20  # of an output that is read for a page
MOST_FEATURES = 500
MOST_FILES = 200
LOG_END = 20_000  # bytes


@get("/jobs/{job}/archive", Role.READER, Role.SUBMITTER)
async def archive(call: Call, job: UUID) -> Archive | Later:
    """Results, files, the end of the log, and what callbacks sent, of the job's last run."""
    row = await known_job(call, job)
    details = await call.rows(named("signalbox", "transcripts"), {"job": job})
    return Later(partial(asyncio.to_thread, _read, call.site.store, row, details))


def _read(store: Store, row: dict[str, Any], details: list[dict[str, Any]]) -> Archive:
    places = output_places(row)
    found = Archive(run=row["run"], summary={}, features=[], files=[], log="", exchanges=[], problem=None)
    try:
        sizes = _sizes(store, places)
        output = _document(store.get(places.output, LARGEST)) if "output.json" in sizes else {}
        found.files = [
            Stored(name=name, size=size, path=_path(row["job_id"], name, output))
            for name, size in sizes.items()
        ]
        found.summary = _mapping(output.get("summary"))
        found.features = [_mapping(each) for each in _list(output.get("features"))[:MOST_FEATURES]]
        found.log = _end(store, places.log) if "log.txt" in sizes else ""
        found.exchanges = [
            Exchange(action=str(row["action_uuid"]), transcript=transcript)
            for row in details
            if isinstance(transcript := read_transcript(store, row["detail"]), dict)
        ]
    except SwitchyardError as error:
        found.problem = str(error)
    return found


def _sizes(store: Store, places: Places) -> dict[str, int | None]:
    keys = islice(store.list(f"{places.folder}/"), MOST_FILES)
    return {key.removeprefix(f"{places.folder}/"): store.size(key) for key in keys}


def _path(job: UUID, name: str, output: dict[str, Any]) -> str | None:
    """The path of the route that serves this file."""
    routes = {"output.json": "results", "log.txt": "log", "input.json": "inputs"}
    named_by_output = {_mapping(each).get("name") for each in _list(output.get("files"))}
    if name in routes:
        return f"/jobs/{job}/{routes[name]}"
    return f"/jobs/{job}/files/{quote(name)}" if name in named_by_output else None


def _document(data: bytes) -> dict[str, Any]:
    try:
        return _mapping(json.loads(data))
    except (ValueError, RecursionError):
        return {}


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _end(store: Store, key: str) -> str:
    size = store.size(key) or 0
    with store.open(key) as content:
        content.seek(max(0, size - LOG_END))
        text = content.read(LOG_END).decode(errors="replace")
    return text if size <= LOG_END else text.partition("\n")[2]
