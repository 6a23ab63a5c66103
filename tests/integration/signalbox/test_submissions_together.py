"""Submissions that arrive at one moment share a message, and none of them fails or waits because of another."""

import asyncio
from collections import Counter
from typing import Any

import httpx
import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege

import signalbox.database
import signalbox.submissions
from signalbox.access.roles import Caller, Role
from tests.integration.signalbox.conftest import Connect, Jobs, Token
from tests.waiting import until

PATH = "/processes/nutrient/execution"
ABSENT = (
    "idempotency_key", "correlation_id", "callbacks", "outputs", "response", "lane", "tags", "start_after", "after", "after_policy",
)  # fmt: skip
WAITS_LONG = "select set_config('lock_timeout', '20s', true)"
OPEN_MESSAGES = """
    select pid from pg_stat_activity
    where datname = current_database() and application_name = 'signalbox' and position('execute_job' in query) > 0 and wait_event_type = 'Lock'
"""


async def submit(client: httpx.AsyncClient, scene: str, **headers: str) -> httpx.Response:
    return await client.post(PATH, json={"inputs": {"scene": scene}}, headers=headers, timeout=60)


@pytest.fixture
async def client(client: httpx.AsyncClient, jobs: Jobs) -> httpx.AsyncClient:
    """It knows the process, so that every submission is one statement."""
    assert (await submit(client, "first")).status_code == 201
    return client


def scenes(jobs: Jobs) -> Counter[str]:
    return Counter(
        each for (each,) in jobs.database.execute("select parameters ->> 'scene' from switchyard.action")
    )


async def test_they_share_messages_and_each_has_its_caller(
    connect: Connect, token: Token, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = await connect(access={})
    callers = [token("submitter", "ann"), token("operator", "bob"), token("submitter", "cid")]
    assert (await submit(client, "first", **callers[0])).status_code == 201
    sent: list[Any] = []
    execute = psycopg.AsyncCursor.execute

    async def counted(self: Any, text: Any, *given: Any, **more: Any) -> Any:
        if b"execute_job" in (text if isinstance(text, bytes) else text.encode()):
            sent.append(text)
        return await execute(self, text, *given, **more)

    monkeypatch.setattr(psycopg.AsyncCursor, "execute", counted)
    answers = await asyncio.gather(*(submit(client, f"s{n}", **callers[n % 3]) for n in range(60)))
    assert {each.status_code for each in answers} == {201}
    assert len(sent) < 30
    assert scenes(jobs) == Counter(["first", *(f"s{n}" for n in range(60))])
    names = [each.json()["switchyard"]["submitted_by"] for each in answers]
    assert names == ["token:ann", "token:bob", "token:cid"] * 20
    stored = dict(jobs.database.execute("select parameters ->> 'scene', submitted_by from switchyard.action"))
    assert [stored[f"s{n}"] for n in range(60)] == names


async def test_one_that_is_refused_fails_alone(client: httpx.AsyncClient, jobs: Jobs) -> None:
    assert (await submit(client, "taken", **{"Idempotency-Key": "1"})).status_code == 201
    wanted = [{"Idempotency-Key": "1"} if n == 7 else {} for n in range(20)]
    answers = await asyncio.gather(*(submit(client, f"s{n}", **key) for n, key in enumerate(wanted)))
    assert [each.status_code for each in answers] == [409 if n == 7 else 201 for n in range(20)]
    assert scenes(jobs) == Counter(["first", "taken", *(f"s{n}" for n in range(20) if n != 7)])


async def test_one_that_cannot_be_sent_fails_alone(client: httpx.AsyncClient, jobs: Jobs) -> None:
    """Nothing encodes half of a surrogate pair: the message that it would be part of cannot even be written."""
    site = client.site  # type: ignore[attr-defined]
    values = {
        "process": "nutrient", "inputs": '{"scene": "x"}', "priority": 100, "no_cache": False, "version": site.announced["nutrient"]["version"],
        **dict.fromkeys(ABSENT),
    }  # fmt: skip
    callers = [Caller("jwt:\ud800" if n == 7 else f"jwt:{n}", Role.SUBMITTER) for n in range(20)]
    answers = await asyncio.gather(
        *(site.submissions.submit(each, values) for each in callers), return_exceptions=True
    )
    failed = [(n, type(each)) for n, each in enumerate(answers) if isinstance(each, BaseException)]
    assert failed == [(7, UnicodeEncodeError)]
    assert scenes(jobs)["x"] == 19


async def test_a_role_is_never_that_of_the_submission_before(client: httpx.AsyncClient, jobs: Jobs) -> None:
    """The routes ask for the role too; this is what the database does without them."""
    site = client.site  # type: ignore[attr-defined]
    values = {
        "process": "nutrient", "inputs": '{"scene": "x"}', "priority": 100, "no_cache": False, "version": site.announced["nutrient"]["version"],
        **dict.fromkeys(ABSENT),
    }  # fmt: skip
    roles = [Role.ADMIN, Role.READER, Role.SUBMITTER, Role.READER, Role.OPERATOR]
    callers = [Caller(f"token:{n}", role) for n, role in enumerate(roles)]
    answers = await asyncio.gather(
        *(site.submissions.submit(each, values) for each in callers), return_exceptions=True
    )
    assert [isinstance(each, InsufficientPrivilege) for each in answers] == [False, True, False, True, False]
    rows = jobs.database.execute(
        "select submitted_by from switchyard.action where parameters ->> 'scene' = 'x'"
    )
    assert sorted(name for (name,) in rows) == ["token:0", "token:2", "token:4"]


async def test_one_that_waits_for_a_lock_delays_no_other(client: httpx.AsyncClient, jobs: Jobs) -> None:
    """Two clients of ours could hold each other's keys; here somebody else has one in an open transaction."""
    with jobs.database.connect(autocommit=False) as holder:
        holder.execute(
            "select switchyard.submit(workflow => 'nutrient', parameters => '{\"scene\": \"held\"}', idempotency_key => 'anonymous 1')"
        )
        waiting = [
            asyncio.create_task(submit(client, "held", **{"Idempotency-Key": "1"}))
            for _ in range(signalbox.submissions.MESSAGES + 1)
        ]
        for _ in range(3):
            answers = await asyncio.gather(*(submit(client, "other") for _ in range(10)))
            assert {each.status_code for each in answers} == {201}
        assert not any(each.done() for each in waiting)
        holder.commit()
    assert len({(await each).json()["jobID"] for each in waiting}) == 1
    assert scenes(jobs) == Counter(first=1, held=1, other=30)


async def test_submissions_that_take_long_do_not_delay_others_as_long(
    client: httpx.AsyncClient, jobs: Jobs
) -> None:
    """A trigger that was added takes its time for some inputs."""
    jobs.database.execute(
        "create function public.dawdle() returns trigger language plpgsql as $$ begin perform pg_sleep(12); return new; end $$"
    )
    jobs.database.execute(
        "create trigger dawdles before insert on switchyard.action for each row"
        " when (new.parameters ->> 'scene' = 'slow') execute function public.dawdle()"
    )
    slow = [asyncio.create_task(submit(client, "slow")) for _ in range(signalbox.submissions.MESSAGES)]
    answers = await asyncio.gather(*(submit(client, "other") for _ in range(10)))
    assert {each.status_code for each in answers} == {201}
    assert not any(each.done() for each in slow)
    assert {(await each).status_code for each in slow} == {201}
    assert scenes(jobs) == Counter(first=1, slow=signalbox.submissions.MESSAGES, other=10)


async def test_nothing_is_sent_again_where_the_outcome_is_unknown(
    client: httpx.AsyncClient, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signalbox.database, "IMPATIENT", WAITS_LONG)
    with jobs.database.connect(autocommit=False) as holder:
        holder.execute("lock table switchyard.action in access exclusive mode")
        waiting = [asyncio.create_task(submit(client, "lost")) for _ in range(10)]
        await asyncio.to_thread(until, lambda: jobs.database.execute(OPEN_MESSAGES), 30)
        while not all(each.done() for each in waiting):
            for (pid,) in jobs.database.execute(OPEN_MESSAGES):
                jobs.database.execute("select pg_terminate_backend(%s)", pid)
            await asyncio.sleep(0.05)
        assert {(await each).status_code for each in waiting} == {503}
        holder.rollback()
    assert scenes(jobs) == Counter(["first"])
    assert (await submit(client, "after")).status_code == 201


async def test_none_waits_for_a_sender_that_has_just_ended(
    client: httpx.AsyncClient, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signalbox.submissions, "MESSAGES", 1)

    async def one_after_the_other() -> None:
        for _ in range(20):
            assert (await submit(client, "s")).status_code == 201

    async with asyncio.timeout(60):
        await asyncio.gather(*(one_after_the_other() for _ in range(8)))
    assert scenes(jobs)["s"] == 160


async def test_large_ones_share_no_message(client: httpx.AsyncClient, jobs: Jobs) -> None:
    site = client.site  # type: ignore[attr-defined]
    groups: list[int] = []
    together = site.database.together

    async def counted(statements: Any) -> Any:
        groups.append(sum(len(each.values["inputs"]) for each in statements))
        return await together(statements)

    site.database.together = counted
    answers = await asyncio.gather(*(submit(client, "x" * 100_000) for _ in range(9)))
    assert {each.status_code for each in answers} == {201}
    assert max(groups) <= signalbox.submissions.LARGEST
    assert sum(groups) > 900_000
