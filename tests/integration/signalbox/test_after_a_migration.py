"""Connections of the pool have prepared statements; a migration may change what these return."""

import httpx
import pytest

from tests.integration.signalbox.conftest import Jobs

COUNTED = """
    create sequence switchyard.reads;
    create or replace function switchyard.job_why(job_id uuid) returns jsonb
    language plpgsql security definer as $$
    begin
      perform nextval('switchyard.reads');
      raise exception 'cannot do this' using errcode = 'feature_not_supported';
    end
    $$
"""
WIDER = "create or replace view switchyard.job as select d.*, 1 as added from ({}) as d"


@pytest.mark.parametrize("page", ["json", "html"])
async def test_a_migration_that_adds_a_column_to_a_view_fails_no_request(
    client: httpx.AsyncClient, jobs: Jobs, page: str
) -> None:
    job = jobs.submit(scene="S2A")
    for _ in range(6):  # the connections of the pool take turns
        assert (await client.get(f"/jobs/{job}?f={page}")).status_code == 200
    with jobs.database.connect() as connection:
        [[before]] = connection.execute("select pg_get_viewdef('switchyard.job'::regclass)").fetchall()
        connection.execute(WIDER.format(before.rstrip(";")).encode())
    assert (await client.get(f"/jobs/{job}?f={page}")).status_code == 200


async def test_what_is_not_supported_is_asked_for_once(client: httpx.AsyncClient, jobs: Jobs) -> None:
    job = jobs.submit(scene="S2A")
    with jobs.database.connect() as connection:
        connection.execute(COUNTED)
    assert (await client.get(f"/jobs/{job}/why")).status_code >= 400
    assert jobs.database.execute("select last_value from switchyard.reads") == [(1,)]
