"""What the conductor does about its surroundings: no ledger, no file, a handler that cannot start."""

import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.conductor.test_run import NOOP
from tests.deployment.deployment import BIN, Deployment
from tests.waiting import until


@pytest.mark.breaks_ledger
@pytest.mark.parametrize("command", ["run", "once"])
def test_newuser_7_a_database_without_migrations_is_reported_and_exits_78(
    deployment: Deployment, command: str
) -> None:
    deployment.configure(NOOP)
    deployment.database.execute("alter schema switchyard rename to elsewhere")
    done = deployment.run("conductor", command, "-c", deployment.file)
    deployment.database.execute("alter schema elsewhere rename to switchyard")
    assert done.returncode == 78
    assert "run `switchyard migrate`" in done.stderr


def test_mission_b10_the_environment_alone_can_say_everything(deployment: Deployment, tmp_path: Path) -> None:
    deployment.ledger.insert("drill", 3)
    environ = {
        **deployment.environ,
        "SWITCHYARD_DATABASE__URL": deployment.database.url,
        "SWITCHYARD_STORE": f"file://{tmp_path}/store",
        "SWITCHYARD_ACTIONS": '{"drill": {"type": "noop"}}',
    }
    subprocess.run([BIN / "conductor", "once"], env=environ, cwd=tmp_path, check=True, timeout=120)
    assert deployment.ledger.counts() == {"SUCCESSFUL": 3}


def test_a_handler_that_cannot_start_holds_up_its_own_name_only(
    deployment: Deployment, tmp_path: Path
) -> None:
    secret = tmp_path / "token"
    deployment.ledger.insert("drill", 2)
    member = deployment.add_conductor({"actions": {**NOOP["actions"], "hook": _hook(secret)}})
    until(lambda: deployment.ledger.counts() == {"SUCCESSFUL": 2})
    until(lambda: "not served: hook" in member.get("/readyz")[1])
    assert member.get("/readyz")[0] == 503
    secret.write_text("whsec_" + "A" * 32)
    until(lambda: member.get("/readyz")[0] == 200)
    member.send(signal.SIGTERM)
    assert member.wait() == 0


def test_where_no_name_can_be_served_it_exits_78(deployment: Deployment, tmp_path: Path) -> None:
    assert deployment.add_conductor({"actions": {"hook": _hook(tmp_path / "nothing")}}).wait(60) == 78


def test_mission_b1_workflows_are_announced_and_withdrawn(deployment: Deployment) -> None:
    flows = {"sums": {"action": "drill"}, "other": {"action": "drill"}}
    routes = "select workflow, action_name from switchyard.route order by 1"
    deployment.add_conductor({**NOOP, "workflows": flows})
    until(lambda: deployment.database.execute(routes) == [("other", "drill"), ("sums", "drill")])
    deployment.database.execute("select switchyard.submit(workflow => 'sums')")
    deployment.configure({**NOOP, "workflows": {"sums": flows["sums"]}})
    until(lambda: deployment.database.execute(routes) == [("sums", "drill")])


AT_REGISTRATION = """
create table public.at_registration (known bigint);
create function public.look() returns trigger language plpgsql as $$
begin
  insert into public.at_registration select (select count(*) from switchyard.flow f where f.action_name = new.action_name)
    + (select count(*) from switchyard.route r where r.action_name = new.action_name);
  return null;
end
$$;
create trigger look after insert on switchyard.worker for each row execute function public.look();
"""


def test_lanes_and_workflows_are_announced_before_a_worker_registers(deployment: Deployment) -> None:
    """Who waited for a worker submits by a workflow's name, and is refused a lane that is none."""
    known = "select distinct known from public.at_registration order by 1"  # a worker may register again
    deployment.database.execute(AT_REGISTRATION)
    drill = {"type": "noop", "lane": "$.customer"}
    deployment.add_conductor({"actions": {"drill": drill}, "workflows": {"sums": {"action": "drill"}}})
    until(lambda: deployment.database.execute(known) == [(2,)])
    limited = {"sums": {"action": "drill", "limits": {"running": 5}}}
    deployment.configure({"actions": {"drill": drill}, "workflows": limited})
    until(lambda: deployment.database.execute(known) == [(2,), (3,)])


def _hook(secret: Path) -> dict[str, Any]:
    request = {"url": "http://127.0.0.1:1/", "sign": {"secrets": [f"file:{secret}"]}}
    return {"type": "http", "request": request, "allow_networks": ["127.0.0.0/8"]}
