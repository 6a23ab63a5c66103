"""A database that is not ready for signalbox: the answer names what to do."""

import psycopg
from psycopg.conninfo import make_conninfo

from switchyard.ledger import migrate
from tests.integration.signalbox.conftest import Connect
from tests.parts.postgres import Server


async def test_without_a_ledger_or_its_roles_the_answer_names_migrate(
    connect: Connect, own_postgres: Server
) -> None:
    client = await connect(own_postgres.url())
    for statement in ("select", "create role switchyard_admin"):
        with psycopg.connect(own_postgres.url(), autocommit=True) as server:
            server.execute(statement)
        answer = await client.get("/jobs")
        assert answer.status_code == 503
        assert "run `switchyard migrate`" in answer.json()["detail"]
    ready = client.site.database.ready  # type: ignore[attr-defined]
    assert await ready() == "the database is not migrated: run `switchyard migrate`"
    migrate.upgrade(own_postgres.url())
    assert await ready() is True


async def test_a_user_that_cannot_take_the_roles_is_named_as_the_cause(
    connect: Connect, own_postgres: Server
) -> None:
    migrate.upgrade(own_postgres.url())
    with psycopg.connect(own_postgres.url(), autocommit=True) as server:
        server.execute("create role somebody login")
        client = await connect(make_conninfo(own_postgres.url(), user="somebody"))
        answer = await client.get("/jobs")
        assert (answer.status_code, "grant it the roles" in answer.json()["detail"]) == (503, True)
        server.execute("grant switchyard_admin to somebody")
    assert (await client.get("/jobs")).status_code == 200
