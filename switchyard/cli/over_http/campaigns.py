"""`switchyard --url … campaign`: list, show, pause, resume, cancel, retrigger."""

from typing import Annotated, Any
from urllib.parse import quote

import typer

from switchyard.cli.campaign_decisions import Name, print_decided, print_retriggered, refuse_all
from switchyard.cli.campaign_screen import live, print_campaign, print_campaigns
from switchyard.cli.options import AsJson, Reason
from switchyard.cli.output import print_json
from switchyard.cli.over_http.session import complete, signalbox
from switchyard.remote import Client

# What an answer leaves out where there is nothing.
ABSENT = (
    "workflow", "lane", "source_error", "ended_at", "paused_at", "paused_by", "paused_because", "note",
    "last_progress", "seconds_left", "stuck",
)  # fmt: skip
Failed = Annotated[bool, typer.Option("--failed", help="Retrigger the items that ended without success.")]
Watch = Annotated[bool, typer.Option("--watch", help="Show a progress bar until the campaign ends.")]


def campaign() -> None:
    """Show and control campaigns; `start` and `gaps` read the source and need the database.

    Example: switchyard --url https://jobs.example campaign list
    """


def list_(as_json: AsJson = False) -> None:
    """List the campaigns and how far each is.

    Example: switchyard --url https://jobs.example campaign list
    """
    with signalbox() as client:
        found = client.get("/campaigns")["campaigns"]
    print_json(found) if as_json else print_campaigns([complete(each, ABSENT) for each in found])


def show(name: Name, watch: Watch = False, as_json: AsJson = False) -> None:
    """Show one campaign: progress, rate, time left, and its failures by cause.

    Example: switchyard --url https://jobs.example campaign show spring --watch
    """
    place = _place(name)
    with signalbox() as client:
        if watch and not as_json:
            live(lambda: complete(client.get(place), ABSENT))
        found, failures = client.get(place), client.get(f"{place}/failures")["failures"]
    if as_json:
        print_json({**found, "failures": failures})
    else:
        print_campaign(complete(found, ABSENT), [complete(each, ("cause",)) for each in failures])


def pause(name: Name, *, reason: Reason, as_json: AsJson = False) -> None:
    """Stop submitting items until the campaign is resumed; open items continue.

    Example: switchyard --url https://jobs.example campaign pause spring -m "the cluster is needed"
    """
    _decide("pause", name, reason, as_json)


def resume(name: Name, *, reason: Reason, as_json: AsJson = False) -> None:
    """Resume submitting items of a campaign.

    Example: switchyard --url https://jobs.example campaign resume spring -m "the cluster is free"
    """
    _decide("resume", name, reason, as_json)


def cancel(name: Name, *, reason: Reason, as_json: AsJson = False) -> None:
    """Cancel the campaign and its open items; `retrigger` continues it.

    Example: switchyard --url https://jobs.example campaign cancel spring -m "wrong collection"
    """
    _decide("cancel", name, reason, as_json)


def retrigger(name: Name, *, failed: Failed = False, reason: Reason, as_json: AsJson = False) -> None:
    """Retrigger every item that ended without success, and open the campaign again.

    Example: switchyard --url https://jobs.example campaign retrigger spring --failed -m "more disk"
    """
    refuse_all(failed)
    with signalbox() as client:
        expected = client.get(_place(name))["unsuccessful"]
        body = {"reason": reason, "expected": expected}
        done = client.post(f"{_place(name)}/retrigger", body)["retriggered"]
    print_retriggered(name, done, as_json)


def _decide(decision: str, name: str, reason: str, as_json: bool) -> None:
    with signalbox() as client:
        changed = _changed(client, f"{_place(name)}/{decision}", reason)
    print_decided(decision, name, changed, as_json)


def _changed(client: Client, place: str, reason: str) -> bool:
    answer: dict[str, Any] = client.post(place, {"reason": reason})
    return bool(answer["changed"])


def _place(name: str) -> str:
    return f"/campaigns/{quote(name, safe='')}"


VERBS = {
    "list": list_,
    "show": show,
    "pause": pause,
    "resume": resume,
    "cancel": cancel,
    "retrigger": retrigger,
}
