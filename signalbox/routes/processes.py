"""Processes: the workflows that can be submitted."""

from typing import Annotated, Any

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
WHOLE = "output"  # the one output of a process without an output schema: all of output.json


class ProcessQuery(Record):
    """Which processes."""

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
    about = row["about"] or {}
    required = set(_properties_of(about.get("input"), "required", []))
    inputs = {
        name: InputDescription(minOccurs=int(name in required), **_described(name, schema))
        for name, schema in _properties_of(about.get("input"), "properties", {}).items()
    }
    outputs = {
        name: OutputDescription(**_described(name, schema)) for name, schema in outputs_of(row).items()
    }
    return ProcessDescription(**_summary(call, row), inputs=inputs, outputs=outputs)


def known(row: dict[str, Any] | None, process: str) -> dict[str, Any]:
    """The row of a process; 404 where there is none."""
    if row is None:
        raise not_found(f"there is no process {process[:200]!r}", OGC + "no-such-process")
    return row


def outputs_of(row: dict[str, Any]) -> dict[str, Any]:
    """The schemas of a process's outputs, by name."""
    return _properties_of((row["about"] or {}).get("output"), "properties", {}) or {WHOLE: {"type": "object"}}


def _properties_of(schema: Any, key: str, default: Any) -> Any:
    return schema.get(key, default) if isinstance(schema, dict) else default


def _described(name: str, schema: Any) -> dict[str, Any]:
    known = schema if isinstance(schema, dict) else {}
    return {"title": str(known.get("title", name)), "description": known.get("description"), "schema": schema}


def _summary(call: Call, row: dict[str, Any]) -> dict[str, Any]:
    name, about = row["workflow"], row["about"] or {}
    return {
        "id": name,
        "version": about.get("version", "1"),
        "title": about.get("title", name),
        "description": about.get("description"),
        "jobControlOptions": ["async-execute", "dismiss"],
        "outputTransmission": ["value", "reference"],
        "links": [
            call.link(f"/processes/{name}?f=json", "self"),
            call.link(f"/processes/{name}?f=html", "alternate", "text/html"),
            call.link(f"/processes/{name}/execution", RELATION + "execute"),
        ],
    }
