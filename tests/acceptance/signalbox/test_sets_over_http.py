"""Campaign and schedule commands print the same with `--url` as with the database."""

import json
import re

import pytest

from tests.acceptance.signalbox.test_clients import Served, served
from tests.acceptance.signalbox.test_over_http import answer, run

__all__ = ["served"]

SCHEDULES = """
    select switchyard.apply_schedule(%s, %s,
      (date_trunc('day', now() at time zone 'Europe/London') + interval '1 day 2 hours') at time zone 'Europe/London', 0, 'test')
"""
NIGHTLY = {
    "workflow": "nutrient", "action_name": "run", "cron": "0 2 * * *", "timezone": "Europe/London", "parameters": {},
    "priority": 100, "overlap": "skip", "catch_up": "last", "catch_up_window": 86400, "jitter": 0,
}  # fmt: skip


def both(served: Served, *argv: str) -> str:
    """What the command prints, which is the same over HTTP and with the database."""
    direct = served.run("switchyard", *argv, "-c", served.file)
    assert direct.returncode == 0, direct.stderr
    over_http = answer(served, *argv)
    # The rate is that of the moment.
    assert re.sub(r"[\d.]+ items a second.*", "", over_http) == re.sub(
        r"[\d.]+ items a second.*", "", direct.stdout.strip()
    )
    return over_http


@pytest.fixture
def campaign(served: Served) -> Served:
    """A campaign `spring/1` of four items, one of which failed."""
    execute = served.database.execute
    ((uuid,),) = execute("select switchyard.start_campaign('spring/1', '{}', 10, workflow => 'nutrient')")
    page = [{"id": f"i{n}", "parameters": {"scene": "x"}} for n in range(4)]
    execute("select switchyard.feed(%s, '{}', %s, '{\"at\": 1}', true)", uuid, json.dumps(page))
    execute("select * from switchyard.submit_items(10)")
    ((failed,),) = execute("select action_uuid from switchyard.action where member_of = %s limit 1", uuid)
    served.ledger.event(failed, "FAILED", 1)
    execute("select switchyard.callbacks_made(%s, 1)", failed)
    return served


def test_a_campaign_is_listed_shown_and_decided_about(campaign: Served) -> None:
    assert "spring/1" in both(campaign, "campaign", "list")
    campaign.environ["SWITCHYARD_URL"] = campaign.url  # what HTTP cannot do still uses the database
    gaps = campaign.run("switchyard", "campaign", "gaps", "spring/1", "--from-file", "x", "-c", campaign.file)
    assert "x" in gaps.stderr
    assert "needs the database" not in gaps.stderr
    assert "No such command" not in gaps.stderr
    del campaign.environ["SWITCHYARD_URL"]
    assert "1 of 4 items done, 1 of them without success" in both(campaign, "campaign", "show", "spring/1")
    for verb, first, second in (
        ("pause", "is paused", "was paused already"),
        ("resume", "is resumed", "was not paused"),
    ):
        words = ("campaign", verb, "spring/1", "-m", "a reason")
        assert answer(campaign, *words) == f"spring/1 {first}."
        assert answer(campaign, *words) == f"spring/1 {second}."
    retrigger = ("campaign", "retrigger", "spring/1", "--failed", "-m", "larger")
    assert answer(campaign, *retrigger) == "1 retriggered."
    assert answer(campaign, "campaign", "cancel", "spring/1", "-m", "wrong") == "spring/1 is canceled."
    assert json.loads(answer(campaign, "campaign", "show", "spring/1", "--json"))["status"] == "CANCELED"
    for argv, text in (
        (("campaign", "show", "autumn"), "there is no campaign 'autumn'"),
        (("campaign", "retrigger", "spring/1", "-m", "x"), "--failed: say so"),
        (("campaign", "start", "autumn", "--workflow", "nutrient"), "campaign start needs the database"),
        (("schedules", "apply", "--prune"), "schedules apply needs the database"),
    ):
        done = run(campaign, "--url", campaign.url, *argv)
        assert (done.returncode, text in done.stderr) == (65, True), done.stderr


def test_a_schedule_is_listed_shown_and_decided_about(served: Served) -> None:
    assert both(served, "schedules", "list").startswith("There are no schedules")
    served.database.execute(SCHEDULES, "nightly/1", json.dumps(NIGHTLY))
    assert "nightly/1" in both(served, "schedules", "list")
    trigger = ("schedules", "trigger", "nightly/1", "-m", "the data came late")
    made = answer(served, *trigger)
    assert served.database.execute("select action_uuid::text from switchyard.action") == [(made,)]
    assert "triggered" in both(served, "schedules", "show", "nightly/1")
    for verb, first, second in (
        ("pause", "is paused", "was paused already"),
        ("resume", "is resumed", "was not paused"),
    ):
        words = ("schedules", verb, "nightly/1", "-m", "a reason")
        assert answer(served, *words) == f"nightly/1 {first}."
        assert answer(served, *words) == f"nightly/1 {second}."
    assert json.loads(answer(served, "schedules", "list", "--json"))[0]["fired"] == 1
    done = run(served, "--url", served.url, "schedules", "show", "weekly")
    assert (done.returncode, "there is no schedule 'weekly'" in done.stderr) == (65, True)
