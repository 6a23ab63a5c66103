"""Details of a job: its events, its callbacks, its inputs and its provenance."""

import asyncio
import json
from functools import partial
from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from signalbox.access.roles import Role
from signalbox.endpoint import Call, Later, get
from signalbox.records.base import Record
from signalbox.records.graph import Graph, Step
from signalbox.records.jobs import Event, EventList, Family, Inputs, Provenance, Relative, Usual, Why
from signalbox.routes.jobs import known_job
from signalbox.routes.results import output_places
from switchyard.ledger.queries import query as named
from switchyard.places import STORED, parameters_key
from switchyard.store import Store

BOTH = (Role.READER, Role.SUBMITTER)
MOST = 1000


class EventQuery(Record):
    """A filter of events."""

    limit: Annotated[int, Field(ge=1, le=MOST)] = MOST
    """How many at most."""
    after: Annotated[int, Field(ge=0, le=2**63 - 1)] = 0
    """Only events with a larger number; links to the next page have it."""


@get("/jobs/{job}/events", *BOTH)
async def events(call: Call, job: UUID, query: EventQuery) -> EventList:
    """The events of a job, oldest first."""
    await known_job(call, job)
    values = {"action": job, "after": query.after, "limit": query.limit + 1}
    rows = await call.rows(named("signalbox", "events"), values)
    found = [Event(**row) for row in rows[: query.limit]]
    links = [call.link(f"/jobs/{job}/events", "self")]
    if len(rows) > query.limit:
        last = max(each.event_id for each in found)
        links.append(call.link(f"/jobs/{job}/events?limit={query.limit}&after={last}", "next"))
    return EventList(events=found, links=links)


@get("/jobs/{job}/family", *BOTH)
async def family(call: Call, job: UUID) -> Family:
    """The job and all its callbacks, parents before children."""
    await known_job(call, job)
    rows = await call.rows(named("signalbox", "family"), {"action": job, "limit": MOST})
    return Family(actions=[Relative(**row) for row in rows])


@get("/jobs/{job}/graph", *BOTH)
async def graph(call: Call, job: UUID) -> Graph:
    """The steps of the graph that the job represents or belongs to."""
    await known_job(call, job)
    rows = await call.rows(named("signalbox", "graph"), {"job": job})
    whole = {row.pop("whole") for row in rows}
    return Graph(whole=next(iter(whole), None), steps=[Step(**row) for row in rows])


@get("/jobs/{job}/why", *BOTH)
async def why(call: Call, job: UUID) -> Why:
    """Why the job has not ended, in one sentence."""
    await known_job(call, job)
    row = await call.row(named("signalbox", "why"), {"job": job})
    assert row is not None
    detail = {key: value for key, value in row["detail"].items() if value is not None}
    return Why(kind=detail["kind"], sentence=detail["sentence"], detail=detail)


@get("/jobs/{job}/usual", *BOTH)
async def usual(call: Call, job: UUID) -> Usual:
    """How long recent jobs of the same process took."""
    row = await known_job(call, job)

    async def read() -> Usual:
        found = await call.row(named("signalbox", "usual"), {"job": job})
        return Usual(**(found or {}))

    known: Usual = await call.site.usual.get((row["action_name"], row["process_id"]), read)
    return known


@get("/jobs/{job}/inputs", *BOTH)
async def inputs(call: Call, job: UUID) -> Inputs | Later:
    """The inputs of the job."""
    await known_job(call, job)
    row = await call.row(named("signalbox", "inputs"), {"job": job})
    parameters = row["parameters"] if row is not None else {}
    if parameters == STORED:
        return Later(partial(_stored, call.site.store, job))
    return Inputs(inputs=parameters)


@get("/jobs/{job}/prov", *BOTH)
async def prov(call: Call, job: UUID) -> Provenance:
    """The provenance of the results, as PROV-JSON."""
    row = await known_job(call, job)
    places = output_places(row)
    run, given, made = f"sy:{places.folder}", f"sy:{places.input}", f"sy:{places.output}"
    agent = f"sy:agent/{row['submitted_by']}"
    # The job that computed a reused result has the times of its run.
    times = {} if row["reused"] else {"prov:startTime": row["started_at"], "prov:endTime": row["ended_at"]}
    activity: dict[str, Any] = {name: at.isoformat() for name, at in times.items() if at is not None}
    return Provenance(
        prefix={"sy": call.href("/"), "prov": "http://www.w3.org/ns/prov#"},
        entity={
            given: {"prov:type": "input"},
            **({made: {"prov:type": "output"}} if _ended_well(row) else {}),
        },
        activity={run: {"sy:process": row["process_id"], "sy:run": places.run, **activity}},
        agent={agent: {"prov:type": "prov:Agent"}},
        used={"_:used": {"prov:activity": run, "prov:entity": given}},
        wasGeneratedBy={"_:made": {"prov:activity": run, "prov:entity": made}} if _ended_well(row) else {},
        wasAssociatedWith={"_:asked": {"prov:activity": run, "prov:agent": agent}},
    )


def _ended_well(row: dict[str, Any]) -> bool:
    return bool(row["job_status"] == "successful")


async def _stored(store: Store, job: UUID) -> Inputs:
    """Parameters that were too large for the ledger."""
    document = json.loads(await asyncio.to_thread(store.get, parameters_key(job)))
    return Inputs(inputs=document)
