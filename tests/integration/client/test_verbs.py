"""The Python API on a connection of its own: every verb, blocking and asynchronous."""

import json
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from threading import Timer
from uuid import uuid4

import pytest

from switchyard import AsyncSwitchyard, Status, Submission, Switchyard
from switchyard.config import Config
from switchyard.errors import BadInput, ConfigError, NoSuchAction, NotMigrated, StoreMissing, WaitTimeout
from switchyard.submit.write import uuid7s
from tests.parts.database import Database

END = "insert into switchyard.event (action_uuid, status, run, attempt, error) values (%s, %s, 1, 1, %s)"


def test_submit_and_status_of_an_action(database: Database) -> None:
    with Switchyard(database.url) as yard:
        start = datetime(2099, 1, 1, tzinfo=UTC)
        parent = yard.submit("hook")
        action = yard.submit(
            "hook", {"n": 1}, workflow="w", priority=7, correlation_id="c-1", idempotency_key="k",
            start_after=start, parent_uuid=parent, lane="acme", tags=["night", "s2"],
        )  # fmt: skip
        thread = yard.status(str(action))
    assert (thread.action_uuid, thread.action_name, thread.workflow) == (action, "hook", "w")
    assert (thread.priority, thread.correlation_id, thread.parent_uuid) == (7, "c-1", parent)
    assert (thread.lane, thread.tags) == ("acme", ["night", "s2"])
    assert (thread.status, thread.run, thread.attempt) == (Status.PENDING, 1, 0)
    assert thread.next_attempt_after == start
    assert not thread.ended


def test_a_key_that_is_reused_returns_the_first_id(database: Database) -> None:
    with Switchyard(database.url) as yard:
        first = yard.submit("hook", {"n": 1}, idempotency_key="k")
        assert yard.submit("hook", {"n": 1}, idempotency_key="k") == first
        with pytest.raises(BadInput, match="asked for something else"):
            yard.submit("hook", {"n": 2}, idempotency_key="k")
        assert yard.status(first).status is Status.PENDING  # the connection is still usable


@pytest.mark.parametrize("keyed", [False, True])
def test_submit_many_returns_the_ids_in_order(database: Database, keyed: bool) -> None:
    asked = [Submission("hook", {"n": n}, idempotency_key=f"k{n}" if keyed else None) for n in range(20)]
    with Switchyard(database.url) as yard:
        made = yard.submit_many(asked)
    rows = database.execute("select action_uuid, (parameters ->> 'n')::int from switchyard.action order by 2")
    assert rows == [(uuid, n) for n, uuid in enumerate(made)]


def test_every_event_is_listed_with_its_detail(database: Database) -> None:
    with Switchyard(database.url) as yard:
        action = yard.submit("hook")
        database.execute(END, action, "FAILED", "no such host")
        run = yard.retrigger(action, reason="the host is back", actor="ann")
        events = yard.events(action)
    assert run == 2
    assert [(event.status, event.run) for event in events] == [(Status.FAILED, 1), (Status.PENDING, 2)]
    assert events[0].error == "no such host"
    assert events[1].detail is not None
    assert (events[1].detail["actor"], events[1].detail["reason"]) == ("ann", "the host is back")
    assert events[1].detail["resume_from"] == "failed"


def test_cancel_records_the_actor_and_the_reason(database: Database) -> None:
    with Switchyard(database.url) as yard:
        action = yard.submit("hook")
        assert yard.cancel(action, reason="not needed", actor="ann")
        assert not yard.cancel(action, reason="again", actor="ann")
        thread = yard.status(action)
    assert (thread.status, thread.error) == (Status.CANCELED, "canceled by ann: not needed")


def test_wait_returns_when_the_action_ends(database: Database) -> None:
    with Switchyard(database.url) as yard:
        action = yard.submit("hook")
        timer = Timer(0.2, lambda: database.execute(END, action, "SUCCESSFUL", None))
        timer.start()
        thread = yard.wait(action, timeout=60)
        timer.join()
    assert thread.successful


def test_wait_gives_up_after_its_timeout(database: Database) -> None:
    with Switchyard(database.url) as yard:
        action = yard.submit("hook")
        with pytest.raises(WaitTimeout, match=f"action {action} is PENDING after 0.2 s"):
            yard.wait(action, timeout=0.2)
        with pytest.raises(TimeoutError):
            yard.wait(action, timeout=0)


def test_an_id_that_does_not_exist(database: Database) -> None:
    [unknown] = uuid7s(datetime.now(UTC).timestamp(), 1)
    with Switchyard(database.url) as yard:
        with pytest.raises(NoSuchAction, match=f"there is no action {unknown}"):
            yard.status(unknown)
        with pytest.raises(BadInput, match="there is no action"):
            yard.cancel(uuid4(), reason="x")
        with pytest.raises(BadInput, match="'abc' is not a valid UUID"):
            yard.status("abc")


def test_a_submission_that_is_wrong_is_refused_by_field(database: Database) -> None:
    with Switchyard(database.url) as yard:
        with pytest.raises(BadInput, match="priority: must be between"):
            yard.submit("hook", priority=100_000)
        with pytest.raises(BadInput, match="parameters"):
            yard.submit("hook", {"n": float("nan")})
    assert database.execute("select count(*) from switchyard.action") == [(0,)]


def test_a_configuration_is_checked_against(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "switchyard.yaml"
    file.write_text("actions: {hook: {type: noop}}")
    with Switchyard(database.url, config=file) as yard:
        yard.submit("hook")
        with pytest.raises(BadInput, match="there is no action 'hok'"):
            yard.submit("hok")


def test_a_lost_connection_is_opened_again(database: Database) -> None:
    with Switchyard(database.url) as yard:
        action = yard.submit("hook")
        database.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity "
            "where application_name = 'switchyard client' and datname = current_database()"
        )
        with pytest.raises(Exception, match="terminat"):
            yard.status(action)
        assert yard.status(action).status is Status.PENDING


@pytest.mark.breaks_ledger
def test_a_database_without_migrations_is_named(database: Database) -> None:
    database.execute("drop schema switchyard cascade")
    with Switchyard(database.url) as yard, pytest.raises(NotMigrated, match="switchyard migrate"):
        yard.status(uuid4())


def test_results_are_read_from_the_store(database: Database, tmp_path: Path) -> None:
    config = Config(store=tmp_path.as_uri())
    with Switchyard(database.url, config=config) as yard:
        action = yard.submit("hook")
        folder = tmp_path / "executions" / str(action) / "r1"
        folder.mkdir(parents=True)
        key = f"executions/{action}/r1/sites.csv"
        (tmp_path / key).write_text("a,b")
        files = [
            {"name": "sites.csv", "key": key, "sha256": sha256(b"a,b").hexdigest()},
            {"name": "changed.csv", "key": key, "sha256": "0" * 64},
            {"name": "other", "key": "executions/other/r1/secret"},
        ]
        (folder / "output.json").write_text(json.dumps({"summary": {"sites": 2}, "files": files}))
        results = yard.results(action)
        assert results.output["summary"] == {"sites": 2}
        assert [file.name for file in results.files] == ["sites.csv", "changed.csv"]
        assert results.files[0].read() == b"a,b"
        assert results.files[0].save(tmp_path).read_text() == "a,b"
        with pytest.raises(BadInput, match="differs from the checksum"):
            results.files[1].read()
        assert results.log is None
        with pytest.raises(StoreMissing):
            _ = yard.results(yard.submit("hook")).output


def test_results_need_a_configured_store(database: Database) -> None:
    with Switchyard(database.url) as yard, pytest.raises(ConfigError, match="pass config="):
        yard.results(yard.submit("hook"))


async def test_the_asynchronous_client_has_the_same_verbs(database: Database) -> None:
    async with AsyncSwitchyard(database.url) as yard:
        action = await yard.submit("hook", {"n": 1}, idempotency_key="k")
        many = await yard.submit_many([Submission("hook", {"n": 1}, idempotency_key="k"), Submission("hook")])
        assert many[0] == action
        database.execute(END, action, "FAILED", "no")
        assert (await yard.wait(action, timeout=60)).status is Status.FAILED
        assert await yard.retrigger(action, reason="again", resume_from="start") == 2
        assert (await yard.events(action))[-1].detail["resume_from"] == "start"  # type: ignore[index]
        assert await yard.cancel(action, reason="enough")
        statuses = [event.status for event in await yard.events(action)]
        assert statuses == [Status.FAILED, Status.PENDING, Status.CANCELED]
        with pytest.raises(WaitTimeout):
            await yard.wait(many[1], timeout=0.1)


def test_a_graph_is_submitted_with_names(database: Database) -> None:
    nodes = {"a": {"action_name": "noop"}, "b": {"action_name": "noop", "after": ["a"]}}
    with Switchyard(database.url) as yard:
        graph = yard.submit_graph({"nodes": nodes, "key": "once"})
        assert sorted(graph.nodes) == ["a", "b"]
        assert yard.submit_graph({"nodes": nodes, "key": "once"}) == graph
        assert yard.status(graph.action_uuid).status == "RUNNING"
        with pytest.raises(BadInput, match="there is no node x"):
            yard.submit_graph({"nodes": {"a": {"action_name": "noop", "after": ["x"]}}})


async def test_a_graph_is_submitted_asynchronously(database: Database) -> None:
    async with AsyncSwitchyard(database.url) as yard:
        graph = await yard.submit_graph({"nodes": {"a": {"action_name": "noop"}}})
        assert (await yard.status(graph.nodes["a"])).status == "PENDING"
