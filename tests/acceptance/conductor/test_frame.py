"""What the conductor does about its surroundings: no ledger, no file, a handler that cannot start."""

import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conductor.program import COMMAND, Fleet, write
from tests.acceptance.conductor.test_run import NOOP, get, statuses, submit
from tests.waiting import until


@pytest.mark.breaks_ledger
@pytest.mark.parametrize("command", ["run", "once"])
def test_newuser_7_a_database_without_migrations_is_said_and_exits_78(fleet: Fleet, command: str) -> None:
    member = fleet.add(NOOP)
    member.kill()
    fleet.database.execute("alter schema switchyard rename to elsewhere")
    done = subprocess.run(
        [COMMAND, command, "-c", member.file],
        env=member.environ,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    fleet.database.execute("alter schema elsewhere rename to switchyard")
    assert done.returncode == 78
    assert "run `switchyard migrate`" in done.stderr


def test_mission_b10_the_environment_alone_can_say_everything(fleet: Fleet, tmp_path: Path) -> None:
    submit(fleet, 3, "drill")
    environ = {
        **os.environ,
        "SWITCHYARD_DATABASE__URL": fleet.database.url,
        "SWITCHYARD_STORE": f"file://{tmp_path}/store",
        "SWITCHYARD_ACTIONS": '{"drill": {"type": "noop"}}',
    }
    subprocess.run([COMMAND, "once"], env=environ, cwd=tmp_path, check=True, timeout=120)
    assert statuses(fleet) == {"SUCCESSFUL": 3}


def test_a_handler_that_cannot_start_holds_up_its_own_name_only(fleet: Fleet, tmp_path: Path) -> None:
    secret = tmp_path / "token"
    config: dict[str, Any] = {"actions": {**NOOP["actions"], "hook": _hook(secret)}}
    submit(fleet, 2, "drill")
    member = fleet.add(config)
    until(lambda: statuses(fleet).get("SUCCESSFUL") == 2, 60)
    health = member.health()
    until(lambda: "not served: hook" in get(health + "/readyz")[1], 30)
    assert get(health + "/readyz")[0] == 503
    secret.write_text("whsec_" + "A" * 32)
    member.signal(signal.SIGHUP)
    until(lambda: get(health + "/readyz")[0] == 200, 60)


def test_where_no_name_can_be_served_it_exits_78(fleet: Fleet, tmp_path: Path) -> None:
    member = fleet.add({"actions": {"hook": _hook(tmp_path / "nothing")}})
    assert member.wait(60) == 78


def test_workflows_are_announced_and_withdrawn(fleet: Fleet, tmp_path: Path) -> None:
    flows = {"sums": {"action": "drill"}, "other": {"action": "drill"}}
    member = fleet.add({**NOOP, "workflows": flows})
    routes = "select workflow, action_name from switchyard.route order by 1"
    until(lambda: fleet.database.execute(routes) == [("other", "drill"), ("sums", "drill")], 60)
    fleet.database.execute("select switchyard.submit(workflow => 'sums')")
    write(member.file, member.file.parent, {**NOOP, "workflows": {"sums": flows["sums"]}})
    until(lambda: fleet.database.execute(routes) == [("sums", "drill")], 60)


def _hook(secret: Path) -> dict[str, Any]:
    request = {"url": "http://127.0.0.1:1/", "sign": {"secrets": [f"file:{secret}"]}}
    return {"type": "http", "request": request, "allow_networks": ["127.0.0.0/8"]}
