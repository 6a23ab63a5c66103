"""The request of each verb and the meaning of its response, shared by both clients."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Generic, Literal, TypeVar
from urllib.parse import quote
from uuid import UUID

import httpx

from switchyard.errors import BadInput, SwitchyardError, Transient
from switchyard.submit.submission import Submission

Result = TypeVar("Result")
ResumeFrom = Literal["start", "failed"]
ENDS = frozenset({"successful", "failed", "dismissed"})
TAKEN = frozenset({
    "priority", "lane", "tags", "correlation_id", "no_cache",
    "start_after", "after", "after_policy", "callbacks",
})  # fmt: skip
RESULTS = "http://www.opengis.net/def/rel/ogc/1.0/results"
BEGIN, LONGEST = 0.2, 5.0  # seconds between two polls of `wait`


@dataclass(frozen=True, slots=True)
class Job:
    """The status of a job."""

    id: UUID
    process: str
    status: str
    message: str | None
    created: datetime
    finished: datetime | None
    document: Mapping[str, Any] = field(repr=False)

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self.status in ENDS

    @property
    def results_url(self) -> str | None:
        """The URL of its results, once it is successful."""
        found = (link["href"] for link in self.document.get("links", ()) if link.get("rel") == RESULTS)
        return next(found, None)


@dataclass(frozen=True, slots=True)
class Sent(Generic[Result]):
    """One request, and the function that reads its response."""

    method: str
    path: str
    read: Callable[[Any], Result]
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, Any] = field(default_factory=dict)


def submit_one(wanted: Submission) -> Sent[UUID]:
    """Submit a job; returns its id. BadInput if the HTTP API does not accept a part of the submission."""
    workflow = wanted.workflow or wanted.action_name
    if not workflow:
        raise BadInput("workflow: over HTTP a submission names the workflow to run")
    elsewhere = ("action_name", "workflow", "parameters", "idempotency_key")
    given = {
        field.name: getattr(wanted, field.name)
        for field in fields(wanted)
        if field.name not in elsewhere and getattr(wanted, field.name) not in (None, ())
    }
    if unknown := sorted(given.keys() - TAKEN):
        raise BadInput(f"{', '.join(unknown)}: not possible over HTTP")
    body = {"inputs": dict(wanted.parameters), "switchyard": {k: _as_json(v) for k, v in given.items()}}
    headers = {} if wanted.idempotency_key is None else {"Idempotency-Key": wanted.idempotency_key}
    return Sent("POST", f"/processes/{quote(workflow, safe='')}/execution", _id, body, headers)


def status(job: UUID | str) -> Sent[Job]:
    """The status of a job."""
    return Sent("GET", f"/jobs/{job}", _job)


def list_jobs(query: Mapping[str, Any]) -> Sent[list[Job]]:
    """The newest jobs that match."""
    wanted = {name: value for name, value in query.items() if value is not None}
    return Sent("GET", "/jobs", lambda found: [_job(each) for each in found["jobs"]], query=wanted)


def events(job: UUID | str) -> Sent[list[dict[str, Any]]]:
    """The events of a job, oldest first."""
    return Sent("GET", f"/jobs/{job}/events", lambda found: list(found["events"]))


def results(job: UUID | str) -> Sent[Any]:
    """The results of a successful job."""
    return Sent("GET", f"/jobs/{job}/results", lambda found: found)


def why(job: UUID | str) -> Sent[str]:
    """Why a job has not ended, in one sentence."""
    return Sent("GET", f"/jobs/{job}/why", lambda found: str(found["sentence"]))


def get(path: str, query: Mapping[str, Any]) -> Sent[Any]:
    """Any other reading route."""
    wanted = {name: value for name, value in query.items() if value is not None}
    return Sent("GET", path, lambda found: found, query=wanted)


def post(path: str, body: Any) -> Sent[Any]:
    """Any other changing route."""
    return Sent("POST", path, lambda found: found, body)


def cancel(job: UUID | str, reason: str) -> Sent[bool]:
    """Cancel an open job; false if it had ended."""
    return Sent("POST", f"/jobs/{job}/cancel", lambda found: bool(found["changed"]), {"reason": reason})


def retrigger(job: UUID | str, reason: str, resume_from: ResumeFrom) -> Sent[int]:
    """Open the next run of a job that ended without success; returns its number."""
    body = {"reason": reason, "resume_from": resume_from}
    return Sent("POST", f"/jobs/{job}/retrigger", lambda found: int(found["run"]), body)


def answer(sent: Sent[Result], received: httpx.Response) -> Result:
    """The result of a response; an error has the server's reason, and is Transient if it may go away."""
    if received.is_success:
        return sent.read(received.json() if received.content else None)
    try:
        problem = received.json()
        detail = str(problem.get("detail") or problem.get("title"))
    except (ValueError, AttributeError):
        detail = received.reason_phrase
    text = f"{received.status_code}: {detail}"
    if received.status_code in (408, 425, 429, 502, 503, 504):
        raise Transient(text)
    raise (BadInput if received.status_code in (400, 404, 409, 413, 415, 422) else SwitchyardError)(text)


def headers(token: str | None) -> dict[str, str]:
    """The headers of every request."""
    common = {"Accept": "application/json"}
    return common if token is None else {**common, "Authorization": f"Bearer {token}"}


def _as_json(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, list | tuple):
        return [str(each) if isinstance(each, UUID) else each for each in value]
    return value


def _id(found: Mapping[str, Any]) -> UUID:
    return UUID(found["jobID"])


def _job(found: Mapping[str, Any]) -> Job:
    finished = found.get("finished")
    return Job(
        UUID(found["jobID"]),
        found["processID"],
        found["status"],
        found.get("message"),
        datetime.fromisoformat(found["created"]),
        None if finished is None else datetime.fromisoformat(finished),
        found,
    )
