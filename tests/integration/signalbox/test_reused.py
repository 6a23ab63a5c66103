"""A job whose result was computed by another: everything of it is read from there."""

import json
from typing import Any
from uuid import UUID

import httpx

from switchyard.places import Places
from tests.integration.reuse.rules import settle
from tests.integration.signalbox.conftest import Jobs

EXECUTE = {"inputs": {"scene": "S2A"}}


async def executed(client: httpx.AsyncClient, **more: Any) -> str:
    answer = await client.post("/processes/plain/execution", json={**EXECUTE, **more})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["jobID"])


async def test_results_files_and_log_are_those_of_the_job_that_computed(
    client: httpx.AsyncClient, jobs: Jobs
) -> None:
    rule = json.dumps({"version": "1", "key": ["$.scene"], "for": 3600, "shared": False})
    jobs.database.execute("update switchyard.route set reuse = %s where workflow = 'plain' returning 1", rule)
    first, second = await executed(client), await executed(client)
    alone = await executed(client, switchyard={"no_cache": True})
    folder = Places(UUID(first), 1).folder
    output = {
        "n": 3,
        "features": [{"type": "Feature"}],
        "files": [{"name": "a.csv", "key": f"{folder}/a.csv"}],
    }
    with jobs.database.connect() as connection:
        settle(connection)
        why = (await client.get(f"/jobs/{second}/why")).json()
        assert why["sentence"].startswith(f"It waits for the same computation: {first}")
        jobs.store.put(f"{folder}/a.csv", b"a,b")
        jobs.store.put(Places(UUID(first), 1).log, b"done")
        jobs.succeed(first, output)
        settle(connection)
    job = (await client.get(f"/jobs/{second}")).json()
    assert (job["status"], job["switchyard"]["reused"]) == ("successful", {"action": first, "run": 1})
    assert (await client.get(f"/jobs/{first}")).json()["switchyard"].get("reused") is None
    assert (await client.get(f"/jobs/{alone}")).json()["status"] == "accepted"
    assert (await client.get(f"/jobs/{second}/results")).json()["n"] == 3
    assert (await client.get(f"/jobs/{second}/features")).json()["features"] == [{"type": "Feature"}]
    [file] = (await client.get(f"/jobs/{second}/files")).json()["files"]
    assert f"/jobs/{second}/files/a.csv" in file["href"]
    assert (await client.get(file["href"])).text == "a,b"
    assert (await client.get(f"/jobs/{second}/log")).text == "done"
    archive = (await client.get(f"/jobs/{second}/archive")).json()
    assert f"/jobs/{second}/files/a.csv" in [each["path"] for each in archive["files"]]
    made = (await client.get(f"/jobs/{second}/prov")).json()["wasGeneratedBy"]["_:made"]
    assert made["prov:activity"] == f"sy:{folder}"
