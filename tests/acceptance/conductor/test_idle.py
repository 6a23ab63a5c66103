"""What idle programs send: a database that bills by use, or sleeps, is not woken by polling."""

import time

from tests.deployment.deployment import Deployment

SPARING = {
    "conductor": {"poll": "5m"},
    "caboose": {"poll": "1m"},
    "workers": {"beat": "1m", "lost_after": "3m"},
    "workflows": {"flow": {"action": "run"}},
}
SECONDS = 20
# One worker alone made 60 round trips a minute, schedules 90 statements, joins 120.
MOST = 20


def transactions(deployment: Deployment) -> int:
    [[count]] = deployment.database.execute(
        "select xact_commit + xact_rollback from pg_stat_database where datname = current_database()"
    )
    return int(count)


def test_idle_programs_send_almost_nothing(deployment: Deployment) -> None:
    run = {"type": "local", "command": "true", "spool": str(deployment.folder / "spool")}
    deployment.configure({**SPARING, "actions": {"hook": {"type": "noop"}, "run": run}})
    programs = [deployment.program("conductor"), deployment.program("caboose")]
    for program in programs:
        program.start()
    deployment.registered(3)
    time.sleep(12)  # idle backends report their statistics after up to 10 s: no event to wait for
    before = transactions(deployment)
    time.sleep(SECONDS)  # what is measured
    assert transactions(deployment) - before <= MOST
    # And still a notification is enough.
    [uuid] = deployment.ledger.insert("hook")
    began = time.monotonic()
    while deployment.ledger.status(uuid) != "SUCCESSFUL":
        assert time.monotonic() - began < 10
