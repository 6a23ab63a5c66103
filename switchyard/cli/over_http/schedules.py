"""`switchyard --url … schedules`: list, show, trigger, pause, resume."""

from typing import Any
from urllib.parse import quote

from switchyard.cli.options import AsJson, Reason
from switchyard.cli.output import print_json
from switchyard.cli.over_http.session import complete, signalbox, timed
from switchyard.cli.schedule_decisions import Name, no_such_schedule, print_switched, print_triggered
from switchyard.cli.schedules import SHOWN, print_schedule, print_schedules
from switchyard.remote import Client

ABSENT = ("workflow", "cron", "next_at", "last_at", "paused_at", "paused_by", "paused_because")


def schedules() -> None:
    """Show and control schedules; `apply` and `backfill` need the database.

    Example: switchyard --url https://jobs.example schedules list
    """


def list_(as_json: AsJson = False) -> None:
    """List the schedules: what each submits, when, its next tick and its last results.

    Example: switchyard --url https://jobs.example schedules list
    """
    with signalbox() as client:
        found = client.get("/schedules")["schedules"]
    print_json(found) if as_json else print_schedules([_row(each) for each in found])


def show(name: Name, as_json: AsJson = False) -> None:
    """Show one schedule in words, with its next five times and its last ticks.

    Example: switchyard --url https://jobs.example schedules show nightly
    """
    with signalbox() as client:
        found = _known(client, name)
    if as_json:
        print_json(found)
        return
    row = _row(found)
    coming = [each["next_at"] for each in timed({"next_at": at} for at in _times(found))]
    ticks = [complete(each, ("action_uuid", "status")) for each in found["ticks"][:SHOWN]]
    print_schedule(row, coming, ticks)


def trigger(name: Name, *, reason: Reason, as_json: AsJson = False) -> None:
    """Submit the action of a schedule now, regardless of its times and overlap policy.

    Example: switchyard --url https://jobs.example schedules trigger nightly -m "the data came late"
    """
    print_triggered(_decided("trigger", name, reason)["action_uuid"], as_json)


def pause(name: Name, *, reason: Reason, as_json: AsJson = False) -> None:
    """Pause a schedule: no ticks fire until it is resumed.

    Example: switchyard --url https://jobs.example schedules pause nightly -m "the archive is being moved"
    """
    print_switched(name, paused=True, changed=_decided("pause", name, reason)["changed"], as_json=as_json)


def resume(name: Name, *, reason: Reason, as_json: AsJson = False) -> None:
    """Resume a schedule from its next tick on; ticks during the pause do not count as missed.

    Example: switchyard --url https://jobs.example schedules resume nightly -m "the archive is back"
    """
    print_switched(name, paused=False, changed=_decided("resume", name, reason)["changed"], as_json=as_json)


def _decided(decision: str, name: str, reason: str) -> dict[str, Any]:
    with signalbox() as client:
        answer: dict[str, Any] = client.post(
            f"/schedules/{quote(name, safe='')}/{decision}", {"reason": reason}
        )
    return answer


def _known(client: Client, name: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = client.get("/schedules")["schedules"]
    for each in found:
        if each["name"] == name:
            return each
    raise no_such_schedule(name)


def _times(found: dict[str, Any]) -> list[str]:
    return [found["next_at"], *found["following"]] if found.get("next_at") else []


def _row(found: dict[str, Any]) -> dict[str, Any]:
    row = complete(found, ABSENT)
    return {**row, "when": row["words"]}


VERBS = {"list": list_, "show": show, "trigger": trigger, "pause": pause, "resume": resume}
