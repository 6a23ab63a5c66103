"""More action names than the server has connections."""

from tests.deployment.deployment import Deployment
from tests.waiting import until

NAMES = [f"name-{n}" for n in range(300)]
SUBMIT = "insert into switchyard.action (action_name) select unnest(%s::text[])"
ENDED = "select count(*) from switchyard.thread where status = 'SUCCESSFUL'"
SESSIONS = "select count(*) from pg_stat_activity where application_name like 'conductor %%' and datname = current_database()"


def test_newuser_9_300_action_names_work_with_less_than_100_connections(deployment: Deployment) -> None:
    deployment.add_conductor({"actions": {name: {"type": "noop"} for name in NAMES}})
    deployment.database.execute(SUBMIT, NAMES)
    most = 0

    def all_ended(count: int) -> bool:
        nonlocal most
        [[sessions]] = deployment.database.execute(SESSIONS)
        most = max(most, sessions)
        return deployment.database.execute(ENDED) == [(count,)]

    until(lambda: all_ended(300), 120, every=0.2)
    deployment.database.execute(SUBMIT, NAMES)
    until(lambda: all_ended(600), 120, every=0.2)
    assert most <= 52
