"""The schedule commands: what they print, and what they refuse."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from tests.deployment import configuration
from tests.integration.cli.conftest import CONFIG, Command
from tests.integration.schedules.schedule import row, ticks
from tests.parts.database import Database

NIGHTLY = {
    "workflow": "sums",
    "cron": "30 1 * * *",
    "timezone": "Europe/London",
    "start": "2099-03-27T00:00:00Z",
    "time_parameter": "at",
}
HOURLY = {"action": "noop", "every": "1h", "overlap": "queue"}


@pytest.fixture(autouse=True)
def configured(switchyard: Command) -> None:
    configure(switchyard, nightly=NIGHTLY, hourly=HOURLY)


def configure(switchyard: Command, **schedules: object) -> None:
    configuration.write(switchyard.folder / "switchyard.yaml", {**CONFIG, "schedules": schedules})


def test_what_the_configuration_has_is_made_effective(switchyard: Command) -> None:
    assert switchyard("schedules", "list").out.startswith("There are no schedules")
    assert switchyard("schedules", "apply").out == "2 changed, 0 unchanged.\n"
    configure(switchyard, hourly={**HOURLY, "overlap": "allow"})
    said = switchyard("schedules", "apply").out
    assert said == "1 changed, 0 unchanged.\nNot in the file (--prune removes them): nightly\n"
    assert switchyard.json("schedules", "apply", "--prune") == {
        "changed": [],
        "unchanged": ["hourly"],
        "removed": ["nightly"],
    }
    assert [each["name"] for each in switchyard.json("schedules", "list")] == ["hourly"]


def test_one_is_shown_in_words_with_its_next_five_times(switchyard: Command) -> None:
    switchyard("schedules", "apply")
    shown = switchyard("schedules", "show", "nightly").out.splitlines()
    assert shown[:2] == ["nightly: workflow sums", "At 01:30 every day (Europe/London), revision 1"]
    place = shown.index("Next times:")
    # On 29 March 2099 the clocks of London go forward: there is no 01:30.
    assert shown[place + 1 : place + 7] == [
        "  Fri 2099-03-27 01:30:00 GMT",
        "  Sat 2099-03-28 01:30:00 GMT",
        "  Sun 2099-03-29 02:00:00 BST",
        "  Mon 2099-03-30 01:30:00 BST",
        "  Tue 2099-03-31 01:30:00 BST",
        "",
    ]
    times = [
        datetime.fromisoformat(at) for at in switchyard.json("schedules", "show", "hourly")["next_times"]
    ]
    assert [later - at for at, later in pairwise(times)] == [timedelta(hours=1)] * 4
    listed = switchyard("schedules", "list").out
    assert "At 01:30 every day" in listed
    assert "Every 1h" in listed


def test_trigger_pause_and_resume(switchyard: Command, database: Database) -> None:
    switchyard("schedules", "apply")
    made = switchyard("schedules", "trigger", "nightly", "-m", "the data came late").out.strip()
    assert database.execute("select workflow, action_uuid::text from switchyard.action") == [("sums", made)]
    assert "triggered" in switchyard("schedules", "show", "nightly").out
    for verb, first, second in (
        ("pause", "is paused", "was paused already"),
        ("resume", "is resumed", "was not paused"),
    ):
        words = ("schedules", verb, "nightly", "-m", "the archive is moved", "--actor", "ann")
        assert switchyard(*words).out == f"nightly {first}.\n"
        described = "Paused by ann" in switchyard("schedules", "show", "nightly").out
        assert described == (verb == "pause")
        assert switchyard(*words).out == f"nightly {second}.\n"


def test_a_backfill_submits_what_did_not_fire(switchyard: Command, database: Database) -> None:
    switchyard("schedules", "apply")
    until = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    given = (
        "--from",
        (until - timedelta(hours=5)).isoformat(),
        "--to",
        until.isoformat(),
        "-m",
        "new archive",
    )
    switchyard("schedules", "backfill", "hourly", *given, code=1)  # nobody said yes
    assert ticks(database, "hourly") == []
    words = ("schedules", "backfill", "hourly", *given, "--yes")
    assert switchyard.json(*words) == {"name": "hourly", "ticks": 5, "submitted": 5}
    assert switchyard(*words).out == "5 ticks, 0 submitted; the others had fired.\n"
    assert row(database, "hourly")["fired"] == 5


def test_a_name_that_no_schedule_has(switchyard: Command) -> None:
    for words in (
        ["show", "x"],
        ["trigger", "x", "-m", "y"],
        ["pause", "x", "-m", "y"],
        ["resume", "x", "-m", "y"],
    ):
        assert "there is no schedule 'x'" in switchyard("schedules", *words, code=65).err
