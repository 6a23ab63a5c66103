"""Jobs: the list, a single job, and its cancellation."""

from typing import Annotated, Any, Literal
from urllib.parse import urlencode
from uuid import UUID

from pydantic import BeforeValidator, Field, StringConstraints

from signalbox.access.roles import Role
from signalbox.endpoint import Call, delete, get
from signalbox.interval import bounds, time_of
from signalbox.problem import OGC, HttpProblem, not_found
from signalbox.records.base import Record
from signalbox.records.jobs import Details, Job, JobList, JobState
from switchyard.ledger.queries import query as named

FIRST, LAST = UUID(int=0), UUID(int=2**128 - 1)
WINDOW = 20_000
OPEN = {"accepted", "running"}
PAGE, USUAL = 2 * 1024 * 1024, 1500  # characters of a page, and of a job without its long fields
LONG = ("error", "note", "tags", "lane", "correlation_id")
PLAIN = ("error", "lane", "tag", "submitted_by", "correlation_id")
PARTS = ("why", "events", "graph", "family", "inputs", "archive", "usual")
RELATION = "http://www.opengis.net/def/rel/ogc/1.0/"
Text = Annotated[str, StringConstraints(min_length=1, max_length=500)]


def _separate(given: Any) -> Any:
    """The standard repeats a parameter for each value; commas are accepted as well."""
    texts = given if isinstance(given, list) else [given]
    return [part for text in texts for part in (text.split(",") if isinstance(text, str) else [text])]


Several = [BeforeValidator(_separate), Field(min_length=1, max_length=100)]
Degrees = Annotated[float, Field(ge=-180, le=180, allow_inf_nan=False)]
Box = Annotated[list[Degrees], BeforeValidator(_separate), Field(min_length=4, max_length=4)]


class JobQuery(Record):
    """A filter of jobs."""

    limit: Annotated[int, Field(ge=1, le=1000)] = 50
    """How many at most."""
    before: UUID = LAST
    """Only jobs older than this one; links to the next page have it."""
    type: Annotated[list[Literal["process"]], *Several] | None = None
    """Always process."""
    processID: Annotated[list[Text], *Several] | None = None  # noqa: N815
    """Only these processes; repeated, or separated by commas."""
    status: Annotated[list[JobState], *Several] | None = None
    """Only these; repeated, or separated by commas."""
    datetime: Annotated[str, Field(max_length=100)] | None = None
    """Submitted within: a time, or start/end, where .. is open."""
    minDuration: Annotated[float, Field(ge=0, le=1e9)] | None = None  # noqa: N815
    """Only jobs that ran at least this many seconds."""
    maxDuration: Annotated[float, Field(ge=0, le=1e9)] | None = None  # noqa: N815
    """Only jobs that ran at most this many seconds."""
    error: Text | None = None
    """Only errors that contain this text."""
    lane: Text | None = None
    """Only this lane."""
    tag: Text | None = None
    """Only jobs with this tag."""
    submitted_by: Text | None = None
    """Only jobs of this caller."""
    correlation_id: Text | None = None
    """Only this correlation id."""
    bbox: Box | None = None
    """Only jobs with inputs that touch this box of degrees: west, south, east, north."""
    id: Annotated[str, Field(pattern="^…?[0-9A-Fa-f][0-9A-Fa-f-]{3,35}$")] | None = None
    """Only jobs whose id begins or ends with these digits, as pages show them or in full."""


@get("/jobs", Role.READER, Role.SUBMITTER, template="jobs")
async def jobs(call: Call, query: JobQuery) -> JobList:
    """The jobs, the newest first."""
    values = await _values(call, query)
    kind = _kind(call, query)
    rows = await call.rows(named("signalbox", f"{kind}jobs"), values)
    found = [job_of(call, row) for row in _first(rows, query.limit)]
    await _locate(call, found)
    links = [
        _link(call, query, "self", query.before),
        _link(call, query, "alternate", query.before, "text/html"),
    ]
    looked = None
    if len(rows) > len(found):
        links.append(_link(call, query, "next", rows[len(found) - 1]["job_id"]))
    else:
        end = await call.row(named("signalbox", f"{kind}window_end"), values)
        if end is not None:
            links.append(_link(call, query, "next", end["action_uuid"]))
            looked = time_of(end["action_uuid"])
    return JobList(jobs=found, links=links, lookedBackTo=looked)


@get("/jobs/{job}", Role.READER, Role.SUBMITTER, template="job", parts=PARTS)
async def job(call: Call, job: UUID) -> Job:
    """The status of a job."""
    return job_of(call, await known_job(call, job))


@delete("/jobs/{job}", Role.SUBMITTER)
async def dismiss(call: Call, job: UUID) -> Job:
    """Cancel an open job; one that has ended is no longer listed."""
    row = await known_job(call, job)
    await call.row(named("signalbox", "dismiss"), {"job": job, "reason": "dismissed over HTTP"})
    after = await call.row(named("signalbox", "job"), {"job": job})
    dismissed = job_of(call, after or row)
    dismissed.status = "dismissed"
    return dismissed


def _first(rows: list[dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    """As many jobs as are requested and fit on a page, but at least one."""
    total = 0
    for count, row in enumerate(rows[:limit]):
        total += USUAL + sum(len(str(row[name])) for name in LONG)
        if count and total > PAGE:
            return rows[:count]
    return rows[:limit]


async def known_job(call: Call, job: UUID) -> dict[str, Any]:
    """The row of a job that the caller may see, read once per request; 404 if there is none."""
    if job not in call.jobs:
        row = await call.row(named("signalbox", "job"), {"job": job})
        if row is None:
            raise not_found(f"there is no job {job}", OGC + "no-such-job")
        call.jobs[job] = row
    return call.jobs[job]


def job_of(call: Call, row: dict[str, Any]) -> Job:
    """A row of the view `job` as a record."""
    name = str(row["job_id"])
    links = [
        call.link(f"/jobs/{name}?f=json", "self"),
        call.link(f"/jobs/{name}?f=html", "alternate", "text/html"),
    ]
    if row["job_status"] == "successful":
        links.append(call.link(f"/jobs/{name}/results", RELATION + "results"))
    elif row["job_status"] == "failed":
        links.append(call.link(f"/jobs/{name}/results", RELATION + "exceptions", "application/problem+json"))
    return Job(
        jobID=name,
        id=name,
        processID=row["process_id"],
        status=row["job_status"],
        message=row["note"] or row["error"],
        created=row["created_at"],
        started=row["started_at"],
        finished=row["ended_at"],
        updated=row["last_update"],
        progress=row["progress"],
        links=links,
        switchyard=Details(**{key: row[key] for key in Details.model_fields}),
    )


async def _locate(call: Call, jobs: list[Job]) -> None:
    """Adds the locations of their inputs, for the map."""
    rows = await call.rows(named("signalbox", "footprints"), {"jobs": [job.jobID for job in jobs]})
    boxes = {str(row["job_id"]): row["bbox"] for row in rows}
    for job in jobs:
        job.bbox = boxes.get(job.jobID)


def _kind(call: Call, query: JobQuery) -> Literal["located_", "open_", ""]:
    """The kind of query that finds the jobs without reading all of them."""
    if query.bbox is not None:
        return "located_"
    only_open = query.status is not None and set(query.status) <= OPEN and call.caller.may(Role.READER)
    return "open_" if only_open else ""


def _areas(box: list[float] | None) -> str:
    """The box as a Postgres array of boxes; two boxes if it crosses the antimeridian."""
    if box is None:
        return "{}"
    west, south, east, north = box
    if south > north:
        raise HttpProblem(400, "/bbox: its south is north of its north; give west, south, east, north")
    spans = [(west, east)] if west <= east else [(west, 180.0), (-180.0, east)]
    return "{" + ";".join(f"({left!r},{south!r}),({right!r},{north!r})" for left, right in spans) + "}"


async def _values(call: Call, query: JobQuery) -> dict[str, Any]:
    since, until = bounds(query.datetime)
    after, before = FIRST, query.before
    if since is not None:
        after = await _floor(call, since)
    if until is not None:
        before = min(before, await _floor(call, until))
    digits = None if query.id is None else query.id.lstrip("…").replace("-", "").lower()
    if digits is not None and len(digits) == len(LAST.hex):  # a whole id needs no search
        only = UUID(digits).int
        after = max(after, UUID(int=max(only - 1, 0)))
        before = min(before, UUID(int=min(only + 1, LAST.int)))
    return {
        "after": after,
        "before": before,
        "window": WINDOW,
        "areas": _areas(query.bbox),
        "limit": query.limit + 1,
        "processes": query.processID,
        "statuses": query.status,
        "min_duration": query.minDuration,
        "max_duration": query.maxDuration,
        **{name: getattr(query, name) for name in PLAIN},
        "id": digits,
    }


async def _floor(call: Call, at: Any) -> UUID:
    row = await call.row(named("signalbox", "floor"), {"at": at})
    assert row is not None
    found: UUID = row["id"]
    return found


def _link(call: Call, query: JobQuery, rel: str, before: UUID, kind: str = "application/json") -> Any:
    given = query.model_dump(exclude_none=True, exclude={"before"}, exclude_unset=True)
    if query.bbox is not None:
        given["bbox"] = ",".join(map(repr, query.bbox))
    if before != LAST:
        given["before"] = str(before)
    if kind == "text/html":
        given["f"] = "html"
    return call.link(f"/jobs?{urlencode(given, doseq=True)}" if given else "/jobs", rel, kind)
