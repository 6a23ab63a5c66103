"""`switchyard --url …`: retrigger, cancel, pause and resume."""

import sys
from typing import Annotated, Any
from urllib.parse import quote

import typer

from switchyard.cli.options import AsJson, From, Reason, ResumeFrom, Yes
from switchyard.cli.output import print_json, printable
from switchyard.cli.over_http.session import identified, signalbox
from switchyard.errors import BadInput
from switchyard.process.exit import Exit

Jobs = Annotated[
    list[str] | None,
    typer.Argument(metavar="JOB", help="Ids of jobs; or choose actions by filters.", show_default=False),
]


def _only(flag: str, help_text: str) -> Any:
    return typer.Option(flag, help=help_text, show_default=False)


Name = Annotated[str | None, _only("--name", "Only this action name.")]
Workflow = Annotated[str | None, _only("--workflow", "Only this workflow.")]
Error = Annotated[str | None, _only("--error", "Only errors that contain this text.")]
Cause = Annotated[str | None, _only("--cause", "Only failures with this cause (inbox --by-cause).")]
Queue = Annotated[str, typer.Argument(metavar="NAME", help="The action name.")]


def retrigger(
    jobs: Jobs = None,
    *,
    reason: Reason,
    name: Name = None,
    workflow: Workflow = None,
    error: Error = None,
    cause: Cause = None,
    resume_from: From = ResumeFrom.FAILED,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Run jobs again that ended without success; chosen by filters, all such actions of the inbox.

    Example: switchyard --url https://jobs.example retrigger --workflow ndvi -m "the partner is back"
    """
    chosen = {"name": name, "workflow": workflow, "error": error, "cause": cause}
    said = {"reason": reason, "resume_from": resume_from.value}
    _decide("retrigger", jobs, chosen, said, yes, as_json)


def cancel(
    jobs: Jobs = None,
    *,
    reason: Reason,
    name: Name = None,
    workflow: Workflow = None,
    yes: Yes = False,
    as_json: AsJson = False,
) -> None:
    """Cancel jobs that have not ended; what runs at a backend is stopped there.

    Example: switchyard --url https://jobs.example cancel …3c5b8329 -m "wrong input"
    """
    _decide("cancel", jobs, {"name": name, "workflow": workflow}, {"reason": reason}, yes, as_json)


def pause(name: Queue, reason: Reason, as_json: AsJson = False) -> None:
    """Stop claiming actions of a name until it is resumed; those in flight continue.

    Example: switchyard --url https://jobs.example pause webhook -m "the partner is down"
    """
    _switch(name, "pause", reason, as_json)


def resume(name: Queue, reason: Reason, as_json: AsJson = False) -> None:
    """Resume claiming actions of a name.

    Example: switchyard --url https://jobs.example resume webhook -m "the partner is back"
    """
    _switch(name, "resume", reason, as_json)


def _switch(name: str, verb: str, reason: str, as_json: bool) -> None:
    with signalbox() as client:
        done = client.post(f"/queues/{quote(name, safe='')}/{verb}", {"reason": reason})
    state = "paused" if verb == "pause" else "not paused"
    already = "" if done["changed"] else " already"
    print_json(done) if as_json else print(printable(f"{name} is{already} {state}"))


def _decide(
    verb: str,
    jobs: list[str] | None,
    given: dict[str, str | None],
    said: dict[str, str],
    yes: bool,
    as_json: bool,
) -> None:
    chosen: dict[str, Any] = {name: value for name, value in given.items() if value}
    if bool(jobs) == bool(chosen):
        raise BadInput("give ids or filters, and not both")
    with signalbox() as client:
        ids = [str(identified(client, job)) for job in jobs or ()]
        count = client.get(f"/jobs:{verb}", id=ids or None, **chosen)["count"]
        if count < len(ids):
            raise BadInput(f"{len(ids) - count} of these {len(ids)} jobs are not in a state to {verb} them")
        if not (ids or yes or _agreed(verb, count)):
            return
        body = {"filter": {"jobs": ids} if ids else chosen, "expected": count, **said}
        done = client.post(f"/jobs:{verb}", body)
    _report(verb, done, as_json)


def _agreed(verb: str, count: int) -> bool:
    if not sys.stdin.isatty():
        raise BadInput(f"{count:,} actions: give --yes to {verb} them without being asked")
    return typer.confirm(f"{verb.capitalize()} {count:,} actions?")


def _report(verb: str, done: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(done)
    else:
        print(f"{verb}: {done['done']:,} of {done['matched']:,}, {len(done['refused']):,} refused.")
        for each in done["refused"]:
            print(f"  {each['action_uuid']}: {printable(each['detail'])}")
    if done["refused"]:
        raise typer.Exit(Exit.FAILURE)
