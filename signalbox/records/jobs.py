"""Jobs: actions that run a workflow, in the words of OGC API Processes."""

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from signalbox.records.base import Link, Record

JobState = Literal["accepted", "running", "successful", "failed", "dismissed"]


class Reused(Record):
    """Where a result comes from that was not computed again."""

    action: UUID
    """The job that computed it."""
    run: int
    """Its run."""


class Details(Record):
    """What Switchyard knows of a job beyond the standard."""

    status: str
    """PENDING, QUEUED, RUNNING, BACKOFF or an end."""
    action_name: str
    """The action name that runs it."""
    run: int
    """The execution that counts; a retrigger opens the next."""
    attempt: int
    """Dispatches within the run."""
    priority: int
    """Smaller goes first."""
    note: str | None = None
    """One line for people."""
    error: str | None = None
    """What went wrong last."""
    correlation_id: str | None = None
    """Goes along into every log line, message and webhook."""
    needs_review: bool = False
    """Whether it is in the inbox."""
    lane: str | None = None
    """Whom it belongs to."""
    tags: list[str] | None = None
    """Words to find it by."""
    submitted_by: str
    """Who submitted it."""
    next_attempt_after: datetime | None = None
    """Not before this time."""
    start_after: datetime | None = None
    """Not before this time, as it was submitted."""
    reused: Reused | None = None
    """Whose result it has, where it was not computed again."""


class Usual(Record):
    """How long 8 of 10 recent jobs of the same process took; nothing where too few are known."""

    low_seconds: float | None = None
    """The shorter end, from dispatch to end in seconds."""
    high_seconds: float | None = None
    """The longer end."""


class Job(Record):
    """The status of a job."""

    jobID: str  # noqa: N815 - the standard's name
    """The job's id."""
    id: str
    """The same, as the draft of version 2.0 has it."""
    processID: str  # noqa: N815
    """The process, which is a workflow."""
    type: Literal["process"] = "process"
    """Always process."""
    processingEntityType: Literal["process"] = "process"  # noqa: N815
    """Always process."""
    status: JobState
    """In the words of the standard."""
    message: str | None = None
    """One line for people."""
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
    """Where its inputs are: west, south, east, north; in lists only."""
    links: list[Link]
    """Where to go on."""
    switchyard: Details
    """What Switchyard knows beyond the standard."""


class JobList(Record):
    """Jobs, the newest first."""

    jobs: list[Job]
    """This page of them."""
    links: list[Link]
    """This page, and the next where there is one."""
    lookedBackTo: datetime | None = None  # noqa: N815
    """Jobs older than this were not looked at for this page; the next page goes on there."""


class Event(Record):
    """A step of an action."""

    event_id: int
    """Its number."""
    event_time: datetime
    """When."""
    status: str
    """The status that it reports; INFO changes nothing."""
    run: int | None = None
    """The run it belongs to."""
    attempt: int | None = None
    """The attempt it belongs to."""
    source: str | None = None
    """Who reports it."""
    error: str | None = None
    """What went wrong."""
    retry_seconds: float | None = None
    """With BACKOFF: how long until it is due again."""
    detail: Any = None
    """What else is known."""
    ignored: bool
    """It came too late or twice and changed nothing."""


class EventList(Record):
    """The events of a job, oldest first."""

    events: list[Event]
    """This page of them."""
    links: list[Link]
    """This page, and the next where there is one."""


class Relative(Record):
    """An action that followed from another."""

    action_uuid: UUID
    """Its id."""
    parent_uuid: UUID | None = None
    """The action whose end made it."""
    action_name: str
    """The action name that runs it."""
    workflow: str | None = None
    """The workflow that it runs."""
    callback: str | None = None
    """The callback definition that made it."""
    depth: int
    """0 for the job itself."""
    status: str
    """Its status."""
    run: int
    """Its run."""
    attempt: int
    """Its attempt."""
    error: str | None = None
    """What went wrong last."""
    created_at: datetime
    """When it was created."""
    ended_at: datetime | None = None
    """When it ended."""


class Family(Record):
    """A job and all that followed from it, parents before children."""

    actions: list[Relative]
    """At most 1,000."""


class Why(Record):
    """Why a job has not ended."""

    kind: str
    """What it waits for, in one word."""
    sentence: str
    """The same for people, with an estimate where there is one."""
    detail: dict[str, Any]
    """The facts behind the sentence."""


class Inputs(Record):
    """What a job was given."""

    inputs: dict[str, Any]
    """By name."""


class Provenance(Record):
    """How the results of a job came about, as PROV-JSON."""

    prefix: dict[str, str]
    """The namespaces."""
    entity: dict[str, dict[str, Any]]
    """What was used and made."""
    activity: dict[str, dict[str, Any]]
    """The run."""
    agent: dict[str, dict[str, Any]]
    """Who asked for it."""
    used: dict[str, dict[str, Any]]
    """What the run read."""
    wasGeneratedBy: dict[str, dict[str, Any]]  # noqa: N815
    """What the run wrote."""
    wasAssociatedWith: dict[str, dict[str, Any]]  # noqa: N815
    """Whom the run belongs to."""


class File(Record):
    """A file that a job wrote."""

    name: str
    """Its name."""
    href: str
    """Where it can be read."""
    sha256: str | None = None
    """The hash of its content, as the workflow reported it."""


class FileList(Record):
    """The files that a job wrote."""

    files: list[File]
    """In the order of the output."""
