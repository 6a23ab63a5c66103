"""Jobs: actions that run a workflow, in the words of OGC API Processes."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from signalbox.records.base import Link, Record

JobState = Literal["accepted", "running", "successful", "failed", "dismissed"]


class Reused(Record):
    """The origin of a reused result."""

    action: UUID
    """The job that computed it."""
    run: int
    """Its run."""


class Details(Record):
    """Details of a job beyond the standard."""

    status: str
    """PENDING, QUEUED, RUNNING, BACKOFF or an end."""
    action_name: str
    """The action name that runs it."""
    run: int
    """The execution that counts; a retrigger opens the next."""
    attempt: int
    """Dispatches within the run."""
    priority: int
    """The priority; smaller values go first."""
    note: str | None = None
    """A summary in one line."""
    error: str | None = None
    """Its last error."""
    correlation_id: str | None = None
    """The correlation id, which is part of every log line, message and webhook."""
    needs_review: bool = False
    """Whether it is in the inbox."""
    lane: str | None = None
    """Its lane."""
    tags: list[str] | None = None
    """Its tags."""
    submitted_by: str
    """Who submitted it."""
    next_attempt_after: datetime | None = None
    """The next attempt does not start before this time."""
    start_after: datetime | None = None
    """The job does not start before this time."""
    reused: Reused | None = None
    """The origin of its result, if it was reused."""


class Usual(Record):
    """How long 8 of 10 recent jobs of the same process took; empty if there are too few."""

    low_seconds: float | None = None
    """The lower bound, from dispatch to end in seconds."""
    high_seconds: float | None = None
    """The upper bound."""


class Job(Record):
    """The status of a job."""

    jobID: str  # noqa: N815 - the standard's name
    """The job's id."""
    id: str
    """The same, as named in the draft of version 2.0."""
    processID: str  # noqa: N815
    """The process, which is a workflow."""
    type: Literal["process"] = "process"
    """Always process."""
    processingEntityType: Literal["process"] = "process"  # noqa: N815
    """Always process."""
    status: JobState
    """The status as defined by the standard."""
    message: str | None = None
    """A summary in one line."""
    created: datetime
    """When it was submitted."""
    started: datetime | None = None
    """When its run was first seen queued, running or ended."""
    finished: datetime | None = None
    """When it ended."""
    updated: datetime
    """When it last changed."""
    progress: int | None = None
    """0 to 100."""
    bbox: list[float] | None = None
    """The bounding box of its inputs: west, south, east, north; in lists only."""
    links: list[Link]
    """Links."""
    switchyard: Details
    """Details beyond the standard."""


class JobList(Record):
    """Jobs, the newest first."""

    jobs: list[Job]
    """The items of this page."""
    links: list[Link]
    """Links to this page, and to the next if there is one."""
    lookedBackTo: datetime | None = None  # noqa: N815
    """Jobs older than this were not searched for this page; the next page continues there."""


class Event(Record):
    """A step of an action."""

    event_id: int
    """Its number."""
    event_time: datetime
    """The time."""
    status: str
    """The status that it reports; INFO changes nothing."""
    run: int | None = None
    """The run it belongs to."""
    attempt: int | None = None
    """The attempt it belongs to."""
    source: str | None = None
    """The program or person that reported it."""
    error: str | None = None
    """The error."""
    retry_seconds: float | None = None
    """With BACKOFF: how long until it is due again."""
    detail: Any = None
    """Further details."""
    ignored: bool
    """Whether it was late or a duplicate, and changed nothing."""


class EventList(Record):
    """The events of a job, oldest first."""

    events: list[Event]
    """The items of this page."""
    links: list[Link]
    """Links to this page, and to the next if there is one."""


class Relative(Record):
    """An action of the tree of callbacks."""

    action_uuid: UUID
    """Its id."""
    parent_uuid: UUID | None = None
    """The action whose end created it."""
    action_name: str
    """The action name that runs it."""
    workflow: str | None = None
    """The workflow that it runs."""
    callback: str | None = None
    """The callback definition that created it."""
    depth: int
    """0 for the job itself."""
    status: str
    """Its status."""
    run: int
    """Its run."""
    attempt: int
    """Its attempt."""
    error: str | None = None
    """Its last error."""
    created_at: datetime
    """When it was created."""
    ended_at: datetime | None = None
    """When it ended."""


class Family(Record):
    """A job and all its callbacks, parents before children."""

    actions: list[Relative]
    """At most 1,000."""


class Why(Record):
    """Why a job has not ended."""

    kind: str
    """What it waits for, in one word."""
    sentence: str
    """A sentence, with an estimate if there is one."""
    detail: dict[str, Any]
    """The facts behind the sentence."""


class Inputs(Record):
    """The inputs of a job."""

    inputs: dict[str, Any]
    """By name."""


class Provenance(Record):
    """The provenance of the results of a job, as PROV-JSON."""

    prefix: dict[str, str]
    """The namespaces."""
    entity: dict[str, dict[str, Any]]
    """The inputs and outputs."""
    activity: dict[str, dict[str, Any]]
    """The run."""
    agent: dict[str, dict[str, Any]]
    """The caller that submitted it."""
    used: dict[str, dict[str, Any]]
    """The inputs that the run read."""
    wasGeneratedBy: dict[str, dict[str, Any]]  # noqa: N815
    """The outputs that the run wrote."""
    wasAssociatedWith: dict[str, dict[str, Any]]  # noqa: N815
    """The association of the run with its submitter."""


class File(Record):
    """A file that a job wrote."""

    name: str
    """Its name."""
    href: str
    """The address."""
    sha256: str | None = None
    """The hash of its content, as the workflow reported it."""


class FileList(Record):
    """The files that a job wrote."""

    files: list[File]
    """In the order of the output."""
