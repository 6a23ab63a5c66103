"""Odd rows by plain SQL break no command: not a list which they are in, nor the one about them."""

import pytest

from tests.integration.cli.conftest import Command
from tests.odd_rows import write_odd_rows

LISTS = (
    ("list", "-n", "1000"), ("list", "--status", "open"), ("list", "--error", "x"), ("inbox", "-n", "1000"), ("inbox", "--by-cause"),
    ("workers", "--all"), ("lanes", "--all"), ("schedules", "list"), ("campaign", "list"), ("partitions",),
)  # fmt: skip
ABOUT_ONE = ("show", "events", "why")


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["table", "json"])
def test_odd_rows_break_no_command(switchyard: Command, form: tuple[str, ...]) -> None:
    uuids = [str(uuid) for uuid in write_odd_rows(switchyard.database)]
    assert len(uuids) > 50, "most is odd without being refused"
    for words in LISTS:
        assert switchyard(*words, *form).out
    for uuid in uuids:
        for command in ABOUT_ONE:
            assert switchyard(command, uuid, *form).out
    ended = switchyard.database.execute(
        "select action_uuid::text from switchyard.thread where ended_at is not null"
    )
    assert switchyard("watch", *(uuid for (uuid,) in ended), *form, code=1).out
    names = switchyard.database.execute("select name from switchyard.schedule")
    for (name,) in names:
        switchyard("schedules", "show", name, *form)
