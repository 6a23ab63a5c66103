"""An upgrade under load: the database is migrated, and programs of both versions work on it at the same time.

The version before is the last release (tests/parts/release.py). The one after is this checkout, with the
migrations of a release that might come next (tests/deployment/next_release.py).
"""

import signal
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from switchyard.ledger import migrate
from tests.deployment.deployment import BIN, Deployment
from tests.deployment.next_release import next_release
from tests.parts import release
from tests.parts.database import Database
from tests.parts.need import obtain
from tests.parts.postgres import Server, binaries
from tests.parts.process import Process
from tests.waiting import until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

LOAD = """
import sys, time
from switchyard import Switchyard
with Switchyard(sys.argv[1]) as yard:
    for number in range(100_000):
        yard.submit("hook", {"n": number})
        if number % 20 == 0:
            yard.submit("run", workflow="flow")
        time.sleep(0.01)
"""
ENDED = "select count(*) from switchyard.thread where status = 'SUCCESSFUL'"
OPEN = "select count(*) from switchyard.yard"
STATUSES = "select distinct status::text from switchyard.thread"
FLOWS = """select count(*), count(c.action_uuid), count(distinct c.parent_uuid)
  from switchyard.action a left join switchyard.action c on c.parent_uuid = a.action_uuid where a.workflow = 'flow'"""
WORK = "select sum(done) from switchyard.worker where kind = %s and pid = %s"
STARTED_TWICE = """select count(*) from (select from switchyard.event where status = 'RUNNING' and not ignored
  group by action_uuid, run, attempt having count(*) > 1) as x"""


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the commands of the release before."""
    folder = tmp_path_factory.mktemp("release")
    return obtain("The release before", partial(release.install, release.before(), folder))


@pytest.fixture
def server() -> Iterator[Server]:
    with closing(Server(binaries("embedded"), {})) as made:
        made.start()
        yield made


def config(folder: Path) -> dict[str, Any]:
    return {
        "store": (folder / "store").as_uri(),
        "actions": {
            "hook": {"type": "noop"},
            "run": {"type": "local", "command": "true", "spool": str(folder / "spool")},
        },
        "workflows": {
            "flow": {
                "action": "run",
                "callbacks": [{"name": "done", "action": "hook", "when": ["SUCCESSFUL"]}],
            }
        },
    }


def load(python: Path, url: str, folder: Path, name: str) -> Process:
    """A client that submits until it is stopped."""
    made = Process(name, [python, "-c", LOAD, url], cwd=folder, logs_in=folder)
    made.start()
    return made


def test_two_releases_work_side_by_side_while_the_database_is_migrated(
    released: Path, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database("postgres", server.url())
    older, newer = tmp_path / "older", tmp_path / "newer"
    for folder in (older, newer):
        folder.mkdir()
    with (
        closing(Deployment(database, older, config(tmp_path), commands=released)) as before,
        closing(Deployment(database, newer, config(tmp_path))) as after,
    ):
        migrated = before.run("switchyard", "migrate", "-c", before.file)
        assert migrated.returncode == 0, migrated.stderr
        old = [before.program("conductor"), before.program("caboose")]
        for program in old:
            program.start()
        clients = [load(released / "python", database.url, older, "client of before")]
        try:
            more(database, 200)
            following = next_release(tmp_path)
            monkeypatch.setattr(migrate, "folder", lambda: following)
            migrate.upgrade(database.url)
            more(database, 100)  # by the programs of before alone
            new = [after.program("conductor"), after.program("caboose")]
            for program in new:
                program.start()
            clients.append(load(BIN / "python", database.url, newer, "client of after"))
            until(lambda: work(database, "conductor", new[0].pid) > 100)
            more(database, 200)  # by both
            both_commands_read(before, after)
            for program in old:
                program.stop(signal.SIGTERM)
            more(database, 200)  # by the programs of after alone
        finally:
            for client in clients:
                client.kill()
        until(lambda: database.execute(OPEN) == [(0,)], 120)
        for program in (*old, *new):
            assert [line for line in program.lines() if line["level"] in ("error", "critical")] == []
    assert {status for (status,) in database.execute(STATUSES)} == {"SUCCESSFUL"}
    [(flows, callbacks, parents)] = database.execute(FLOWS)
    assert flows == callbacks == parents > 10
    assert database.execute(STARTED_TWICE) == [(0,)]
    assert database.execute("select * from switchyard.verify()") == []


def more(database: Database, count: int) -> None:
    """Wait until that many more have ended."""
    [(before,)] = database.execute(ENDED)
    until(lambda: database.execute(ENDED)[0][0] >= before + count, 120)


def work(database: Database, kind: str, pid: int) -> int:
    with psycopg.connect(database.url) as connection:
        [(done,)] = connection.execute(WORK, (kind, pid)).fetchall()
    return done or 0


def both_commands_read(*deployments: Deployment) -> None:
    """What people run of either version."""
    for each in deployments:
        for words in (("list",), ("inbox",), ("workers",), ("doctor",), ("submit", "hook"), ("verify",)):
            done = each.run("switchyard", *words, "-c", each.file)
            assert "Traceback" not in done.stderr, done.stderr
            assert words == ("doctor",) or done.returncode == 0, done.stdout + done.stderr
