"""Processes: the workflows that can be submitted."""

from typing import Annotated, Any, TypeVar

from pydantic import Field

from signalbox.access.roles import Role
from signalbox.endpoint import Call, get
from signalbox.problem import OGC, not_found
from signalbox.records.base import Record
from signalbox.records.processes import (
    InputDescription,
    OutputDescription,
    ProcessDescription,
    ProcessList,
    ProcessSummary,
)
from switchyard.ledger.queries import query as named

RELATION = "http://www.opengis.net/def/rel/ogc/1.0/"
Kind = TypeVar("Kind", list[Any], dict[str, Any])
WHOLE = "output"  # the one output of a process without an output schema: all of output.json


class ProcessQuery(Record):
    """A filter of processes."""

    limit: Annotated[int, Field(ge=1, le=1000)] = 100
    """How many at most."""
    after: Annotated[str, Field(max_length=200)] = ""
    """Only processes after this name; links to the next page have it."""


@get("/processes", Role.READER, Role.SUBMITTER, template="processes")
async def processes(call: Call, query: ProcessQuery) -> ProcessList:
    """The processes that can be executed."""
    values = {"after": query.after, "limit": query.limit + 1}
    rows = await call.rows(named("signalbox", "processes"), values)
    found = [ProcessSummary(**_summary(call, row)) for row in rows[: query.limit]]
    links = [call.link("/processes?f=json", "self"), call.link("/processes?f=html", "alternate", "text/html")]
    if len(rows) > query.limit:
        links.append(call.link(f"/processes?limit={query.limit}&after={found[-1].id}", "next"))
    return ProcessList(processes=found, links=links)


@get("/processes/{process}", Role.READER, Role.SUBMITTER, template="process")
async def process(call: Call, process: str) -> ProcessDescription:
    """Everything about a process."""
    row = known(await call.row(named("signalbox", "process"), {"process": process}), process)
    schema = (row["about"] or {}).get("input")
    required = _part(schema, "required", list)
    inputs = {
        name: InputDescription(minOccurs=int(name in required), **_described(name, schema))
        for name, schema in _part(schema, "properties", dict).items()
    }
    outputs = {
        name: OutputDescription(**_described(name, schema)) for name, schema in outputs_of(row).items()
    }
    return ProcessDescription(**_summary(call, row), inputs=inputs, outputs=outputs)


def known(row: dict[str, Any] | None, process: str) -> dict[str, Any]:
    """The row of a process; 404 if there is none."""
    if row is None:
        raise not_found(f"there is no process {process[:200]!r}", OGC + "no-such-process")
    return row


def outputs_of(row: dict[str, Any]) -> dict[str, Any]:
    """The schemas of a process's outputs, by name."""
    return _part((row["about"] or {}).get("output"), "properties", dict) or {WHOLE: {"type": "object"}}


def _part(schema: Any, key: str, kind: type[Kind]) -> Kind:
    """The part of a schema under that key; empty if there is none of that kind."""
    found = schema.get(key) if isinstance(schema, dict) else None
    return found if isinstance(found, kind) else kind()


def _described(name: str, schema: Any) -> dict[str, Any]:
    known = schema if isinstance(schema, dict) else {}
    title = _text(known, "title") or name
    return {"title": title, "description": _text(known, "description"), "schema": schema}


def _text(known: dict[str, Any], key: str) -> str | None:
    return None if known.get(key) is None else str(known[key])


def _summary(call: Call, row: dict[str, Any]) -> dict[str, Any]:
    name, about = row["workflow"], row["about"] or {}
    return {
        "id": name,
        "version": _text(about, "version") or "1",
        "title": _text(about, "title") or name,
        "description": _text(about, "description"),
        "jobControlOptions": [*(["sync-execute"] if about.get("sync") else []), "async-execute", "dismiss"],
        "outputTransmission": ["value", "reference"],
        "links": [
            call.link(f"/processes/{name}?f=json", "self"),
            call.link(f"/processes/{name}?f=html", "alternate", "text/html"),
            call.link(f"/processes/{name}/execution", RELATION + "execute"),
        ],
    }
