"""Following actions: between two looks something happens, in place of the pause."""

from collections.abc import Callable
from types import SimpleNamespace
from uuid import UUID

import pytest

from switchyard.cli import watch
from switchyard.cli.database import configured, connected
from tests.integration.cli.conftest import Command

Between = Callable[[Callable[[], object]], None]


@pytest.fixture
def between(monkeypatch: pytest.MonkeyPatch) -> Between:
    """What happens where the command would pause."""

    def set_pause(happens: Callable[[], object]) -> None:
        monkeypatch.setattr(watch, "time", SimpleNamespace(sleep=lambda _: happens()))

    return set_pause


def interrupt() -> None:
    raise KeyboardInterrupt


def test_without_ids_the_newest_are_followed_until_ctrl_c(switchyard: Command, between: Between) -> None:
    first, second = switchyard.submitted(), switchyard.submitted()
    between(interrupt)
    lines = switchyard("watch").out.splitlines()
    assert sorted(lines) == [f"{first} PENDING 1 0", f"{second} PENDING 1 0"]


def test_the_live_view_ends_with_the_action(switchyard: Command, between: Between) -> None:
    uuid = switchyard.submitted()
    between(lambda: switchyard.event(uuid, "SUCCESSFUL"))
    with connected(configured(None)) as connection:
        [row] = watch._live(connection, [UUID(uuid)], 0.1)
    assert row["status"] == "SUCCESSFUL"


def test_a_database_that_goes_away_meanwhile(switchyard: Command, between: Between) -> None:
    uuid = switchyard.submitted()
    kill = (
        "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'switchyard command'"
    )
    between(lambda: switchyard.database.execute(kill))
    assert "terminating connection" in switchyard("watch", uuid, code=75).err
