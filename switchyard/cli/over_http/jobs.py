"""`switchyard --url …`: submit, list, show, events, why and watch."""

import time
from typing import Annotated, Any

import typer

from switchyard.cli.filters import moment
from switchyard.cli.options import AsJson, Limit
from switchyard.cli.output import as_text, json_line, print_json, printable
from switchyard.cli.over_http.session import identified, signalbox, timed
from switchyard.cli.submit import (
    After,
    Callbacks,
    CorrelationId,
    Key,
    Lane,
    NoCache,
    Parameters,
    Priority,
    Tags,
    WaitFor,
    WaitPolicy,
    read_json,
    start,
)
from switchyard.cli.table import print_table
from switchyard.errors import BadInput
from switchyard.process.exit import Exit
from switchyard.remote import Job

JobId = Annotated[
    str, typer.Argument(metavar="JOB", help="The job's id, or a unique beginning or end of it.")
]
Workflow = Annotated[str, typer.Option("--workflow", "-w", help="The workflow to run.", show_default=False)]
FIELDS = "id=job created=submitted process=workflow status run attempt message"
EVENTS = "event_time=time status run attempt source error detail"


def _wanted(flag: str, help_text: str) -> Any:
    return typer.Option(flag, help=help_text, show_default=False)


def submit(
    workflow: Workflow,
    parameters: Parameters = "{}",
    priority: Priority = 100,
    correlation_id: CorrelationId = None,
    key: Key = None,
    lane: Lane = None,
    tag: Tags = None,
    after: After = None,
    callbacks: Callbacks = None,
    wait_for: WaitFor = None,
    wait_policy: WaitPolicy = "successful",
    no_cache: NoCache = False,
    as_json: AsJson = False,
) -> None:
    """Submit a job and print its id. Reusing a key returns the first job's id.

    Example: switchyard --url https://jobs.example submit -w nutrient -p @input.json --key order-17
    """
    given = read_json("--parameters", parameters)
    if not isinstance(given, dict):
        raise BadInput("--parameters: must be a JSON object")
    own = read_json("--callbacks", callbacks or "null")
    with signalbox() as client:
        others = [identified(client, each) for each in wait_for or ()]
        job = client.submit(
            workflow, given, idempotency_key=key, lane=lane, priority=priority, tags=tag,
            correlation_id=correlation_id, no_cache=no_cache or None, start_after=start("--after", after),
            after=others, after_policy=wait_policy if others else None, callbacks=own,
        )  # fmt: skip
    print_json({"action_uuid": job}) if as_json else print(job)


def list_(
    workflow: Annotated[str | None, _wanted("--workflow", "Only this workflow.")] = None,
    status: Annotated[
        str | None, _wanted("--status", "Only accepted, running, successful, failed or dismissed.")
    ] = None,
    error: Annotated[str | None, _wanted("--error", "Only errors that contain this text.")] = None,
    lane: Annotated[str | None, _wanted("--lane", "Only this lane.")] = None,
    tag: Annotated[str | None, _wanted("--tag", "Only with this tag.")] = None,
    since: Annotated[str | None, _wanted("--since", "Submitted after: a time, or an age like 2h.")] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List jobs, the newest first.

    Example: switchyard --url https://jobs.example list --status failed --since 2d
    """
    begin = moment("--since", since)
    window = None if begin is None else f"{begin.isoformat()}/.."
    with signalbox() as client:
        found = client.list(
            limit=min(limit, 1000), processID=workflow, status=status, error=error, lane=lane, tag=tag,
            datetime=window,
        )  # fmt: skip
    if as_json:
        print_json([job.document for job in found])
    else:
        print_table([_row(job) for job in found], FIELDS, "No job matches.")


def show(job: JobId, as_json: AsJson = False) -> None:
    """Show one job: its state, why it has not ended, its events, and where its results are.

    Example: switchyard --url https://jobs.example show …3c5b8329
    """
    with signalbox() as client:
        found = client.status(identified(client, job))
        reason = None if found.ended else client.why(found.id)
        happened = client.events(found.id)
    if as_json:
        print_json({"job": found.document, "why": reason, "events": happened})
        return
    facts = {**_row(found), "id": str(found.id), "why": reason, "results": found.results_url}
    for name, value in facts.items():
        if value is not None:
            print(f"{name:10}  {as_text(value)}")
    print()
    print_table(timed(happened), EVENTS, "No events yet: it waits to be claimed.", folded=True)


def events(job: JobId, as_json: AsJson = False) -> None:
    """Show every event of one job, in the order in which they were recorded.

    Example: switchyard --url https://jobs.example events …3c5b8329
    """
    with signalbox() as client:
        found = client.events(identified(client, job))
    print_json(found) if as_json else print_table(timed(found), EVENTS, "No events yet.", folded=True)


def why(job: JobId, as_json: AsJson = False) -> None:
    """Say in one sentence why a job has not ended, and when it probably will.

    Example: switchyard --url https://jobs.example why …3c5b8329
    """
    with signalbox() as client:
        sentence = client.why(identified(client, job))
    print_json({"sentence": sentence}) if as_json else print(printable(sentence))


def watch(
    jobs: Annotated[list[str], typer.Argument(metavar="JOB", help="Ids of jobs.")],
    every: Annotated[float, typer.Option(min=0.2, help="Seconds between two requests.")] = 2.0,
    as_json: AsJson = False,
) -> None:
    """Follow jobs until all have ended, one line for each change (exit 1 if one ended without success).

    Example: switchyard --url https://jobs.example watch …3c5b8329
    """
    seen: dict[Any, tuple[Any, ...]] = {}
    try:
        with signalbox() as client:
            wanted = [identified(client, job) for job in jobs]
            while True:
                found = [client.status(job) for job in wanted]
                for job in found:
                    _print_change(job, seen, as_json)
                if all(job.ended for job in found):
                    break
                time.sleep(every)
    except KeyboardInterrupt:
        raise typer.Exit(Exit.OK) from None
    if any(job.status != "successful" for job in found):
        raise typer.Exit(Exit.FAILURE)


def _print_change(job: Job, seen: dict[Any, tuple[Any, ...]], as_json: bool) -> None:
    ours = job.document["switchyard"]
    state = (ours["status"], ours["run"], ours["attempt"], job.document.get("progress"))
    if seen.get(job.id) != state:
        seen[job.id] = state
        words = (job.id, *(part for part in state if part is not None))
        print(json_line(job.document) if as_json else " ".join(map(str, words)), flush=True)


def _row(job: Job) -> dict[str, Any]:
    ours = job.document["switchyard"]
    return {
        "id": job.id,
        "created": job.created,
        "process": job.process,
        "status": ours["status"],
        "run": ours["run"],
        "attempt": ours["attempt"],
        "message": job.message,
    }
