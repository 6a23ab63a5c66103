"""OGC API Processes 1.0: one test per requirement, named after it."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.integration.signalbox.conftest import Connect, Jobs
from tests.parts.database import Database

EXECUTE = {"inputs": {"scene": "S2A"}}
KIND = "http://www.opengis.net/def/exceptions/ogcapi-processes-1/1.0/"


def rels(document: dict[str, Any]) -> dict[str, str]:
    return {link["rel"]: link["href"] for link in document["links"]}


async def test_req_core_landingpage_success(client: httpx.AsyncClient) -> None:
    links = {link["rel"]: link for link in (await client.get("/")).json()["links"]}
    assert links["service-desc"]["type"] == "application/vnd.oai.openapi+json;version=3.0"
    for name in ("conformance", "processes", "job-list"):
        assert f"http://www.opengis.net/def/rel/ogc/1.0/{name}" in links
    for link in links.values():
        assert (await client.get(link["href"])).status_code == 200


async def test_req_core_api_definition_success(client: httpx.AsyncClient) -> None:
    answer = await client.get("/api")
    assert answer.headers["content-type"] == "application/vnd.oai.openapi+json;version=3.0"
    assert answer.json()["openapi"].startswith("3.0")


async def test_req_core_conformance_success(connect: Connect) -> None:
    for action, expected in ((None, False), ("hook", True)):
        client = await connect(subscriber_action=action)
        claimed = {
            each.rpartition("/")[2] for each in (await client.get("/conformance")).json()["conformsTo"]
        }
        assert {"core", "json", "html", "oas30", "ogc-process-description", "job-list", "dismiss"} <= claimed
        assert ("callback" in claimed) is expected


async def test_req_core_process_list_success(client: httpx.AsyncClient, jobs: Jobs) -> None:
    listed = (await client.get("/processes")).json()
    assert [each["id"] for each in listed["processes"]] == ["nutrient", "plain"]
    first = listed["processes"][0]
    assert (first["title"], first["version"]) == ("Nutrient assessment", "7")
    assert first["jobControlOptions"] == ["async-execute", "dismiss"]
    page = (await client.get("/processes?limit=1")).json()
    assert [each["id"] for each in (await client.get(rels(page)["next"])).json()["processes"]] == ["plain"]


async def test_req_core_process_success_and_ogc_process_description(
    client: httpx.AsyncClient, jobs: Jobs
) -> None:
    found = (await client.get("/processes/nutrient")).json()
    assert found["inputs"]["scene"] == {
        "title": "Scene", "minOccurs": 1, "maxOccurs": 1, "schema": {"type": "string", "title": "Scene"},
    }  # fmt: skip
    assert found["inputs"]["edition"]["minOccurs"] == 0
    assert set(found["outputs"]) == {"summary", "sites"}
    assert set((await client.get("/processes/plain")).json()["outputs"]) == {"output"}


async def test_req_core_process_exception_no_such_process(client: httpx.AsyncClient) -> None:
    for path in ("/processes/nothing", "/processes/nothing/execution"):
        answer = await (client.get(path) if path.endswith("nothing") else client.post(path, json=EXECUTE))
        assert (answer.status_code, answer.json()["type"]) == (404, KIND + "no-such-process")


@pytest.mark.parametrize("headers", [{}, {"Prefer": "respond-async"}])
async def test_req_core_process_execute_success_async(
    client: httpx.AsyncClient, jobs: Jobs, headers: dict[str, str]
) -> None:
    answer = await client.post("/processes/nutrient/execution", json=EXECUTE, headers=headers)
    job = answer.json()
    assert answer.status_code == 201
    assert answer.headers["location"].endswith(f"/jobs/{job['jobID']}")
    assert "link" not in answer.headers
    assert (job["status"], job["type"], job["processID"], job["id"]) == (
        "accepted",
        "process",
        "nutrient",
        job["jobID"],
    )
    assert ("preference-applied" in answer.headers) is bool(headers)
    assert jobs.database.execute("select parameters, submitted_by from switchyard.action") == [
        ({"scene": "S2A"}, "anonymous")
    ]


async def test_req_core_process_execute_inputs_inline_qualified_and_by_reference(
    client: httpx.AsyncClient, jobs: Jobs
) -> None:
    inputs = {
        "a": 1,
        "b": {"value": {"x": 2}, "mediaType": "application/json"},
        "c": {"href": "http://10.0.0.1/"},
    }
    answer = await client.post("/processes/plain/execution", json={"inputs": inputs})
    found = (await client.get(f"/jobs/{answer.json()['jobID']}/inputs")).json()["inputs"]
    assert found == {"a": 1, "b": {"x": 2}, "c": {"href": "http://10.0.0.1/"}}


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"inputs": {}}, "/inputs"),
        ({"inputs": {"scene": 7}}, "/inputs/scene"),
        ({"inputs": []}, "/inputs"),
        ({"inputs": {"scene": "x"}, "outputs": {"none": {}}}, "/outputs/none"),
        ({"inputs": {"scene": "x"}, "response": "smoke"}, "/response"),
    ],
)
async def test_req_core_process_execute_input_validation(
    client: httpx.AsyncClient, jobs: Jobs, body: Any, pointer: str
) -> None:
    answer = await client.post("/processes/nutrient/execution", json=body)
    assert answer.status_code == 422
    assert [each["pointer"] for each in answer.json()["errors"]] == [pointer]


async def test_idempotency_key_finds_the_first_job_and_refuses_another_request(
    client: httpx.AsyncClient, jobs: Jobs
) -> None:
    async def execute(scene: str) -> httpx.Response:
        body, headers = {"inputs": {"scene": scene}}, {"Idempotency-Key": "order-17"}
        return await client.post("/processes/nutrient/execution", json=body, headers=headers)

    answers = await asyncio.gather(*(execute("S2A") for _ in range(5)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.json()["jobID"] for answer in answers}) == 1
    assert (await execute("S2B")).status_code == 409
    assert jobs.database.execute("select count(*) from switchyard.action") == [(1,)]


@pytest.mark.parametrize(
    ("reports", "status"),
    [
        ([], "accepted"), (["QUEUED"], "accepted"), (["QUEUED", "RUNNING"], "running"),
        (["SUCCESSFUL"], "successful"), (["FAILED"], "failed"), (["TIMED_OUT"], "failed"), (["CANCELED"], "dismissed"),
    ],
)  # fmt: skip
async def test_req_core_job_success(
    client: httpx.AsyncClient, jobs: Jobs, reports: list[str], status: str
) -> None:
    job = jobs.submit(scene="a")
    for each in reports:
        jobs.report(job, each)
    found = (await client.get(f"/jobs/{job}")).json()
    assert (found["status"], found["jobID"], found["type"]) == (status, job, "process")
    assert ("finished" in found) is (status in ("successful", "failed", "dismissed"))
    assert ("http://www.opengis.net/def/rel/ogc/1.0/results" in rels(found)) is (status == "successful")


@pytest.mark.parametrize("job", ["00000000-0000-7000-8000-000000000000", "no-uuid", "1"])
@pytest.mark.parametrize(
    "below", ["", "/results", "/events", "/inputs", "/family", "/features", "/log", "/prov"]
)
async def test_req_core_job_exception_no_such_job(client: httpx.AsyncClient, job: str, below: str) -> None:
    answer = await client.get(f"/jobs/{job}{below}")
    assert (answer.status_code, answer.json()["type"]) == (404, KIND + "no-such-job")


async def test_req_core_job_results_exception_results_not_ready(
    client: httpx.AsyncClient, jobs: Jobs
) -> None:
    answer = await client.get(f"/jobs/{jobs.submit()}/results")
    assert (answer.status_code, answer.json()["type"]) == (404, KIND + "result-not-ready")


async def test_req_core_job_results_failed(client: httpx.AsyncClient, jobs: Jobs) -> None:
    job = jobs.submit()
    jobs.report(job, "FAILED", "the scene is empty")
    answer = (await client.get(f"/jobs/{job}/results")).json()
    assert (answer["type"], answer["detail"]) == (KIND + "job-results-failed", "the scene is empty")


OUTPUT = {"summary": {"n": 3}, "sites": [1, 2], "features": [{"type": "Feature"}]}


async def executed(client: httpx.AsyncClient, jobs: Jobs, **asked: Any) -> str:
    answer = await client.post("/processes/nutrient/execution", json={**EXECUTE, **asked})
    job = str(answer.json()["jobID"])
    jobs.succeed(job, OUTPUT)
    return job


async def test_req_core_job_results_async_document_by_value_and_by_reference(
    client: httpx.AsyncClient, jobs: Jobs
) -> None:
    job = await executed(
        client, jobs, response="document", outputs={"summary": {}, "sites": {"transmissionMode": "reference"}}
    )
    found = (await client.get(f"/jobs/{job}/results")).json()
    assert found["summary"] == {"value": {"n": 3}, "mediaType": "application/json"}
    assert (await client.get(found["sites"]["href"])).json() == [1, 2]


async def test_req_core_job_results_async_raw_value_one(client: httpx.AsyncClient, jobs: Jobs) -> None:
    job = await executed(client, jobs, response="raw", outputs={"sites": {}})
    assert (await client.get(f"/jobs/{job}/results")).json() == [1, 2]


async def test_req_core_job_results_async_raw_ref_one(client: httpx.AsyncClient, jobs: Jobs) -> None:
    job = await executed(client, jobs, response="raw", outputs={"sites": {"transmissionMode": "reference"}})
    answer = await client.get(f"/jobs/{job}/results")
    assert answer.status_code == 204
    assert f"/jobs/{job}/results/sites" in answer.headers["link"]


async def test_req_core_job_results_async_raw_value_multi(client: httpx.AsyncClient, jobs: Jobs) -> None:
    job = await executed(client, jobs, response="raw")
    answer = await client.get(f"/jobs/{job}/results")
    assert answer.headers["content-type"].startswith("multipart/related")
    assert answer.text.count("Content-ID: ") == 2


async def test_results_without_an_output_schema_are_the_whole_output(
    client: httpx.AsyncClient, jobs: Jobs
) -> None:
    job = jobs.submit("plain")
    jobs.succeed(job, OUTPUT)
    assert (await client.get(f"/jobs/{job}/results")).json() == OUTPUT
    features = await client.get(f"/jobs/{job}/features")
    assert features.headers["content-type"] == "application/geo+json"
    assert features.json() == {"type": "FeatureCollection", "features": OUTPUT["features"]}


async def test_req_job_list_filters(client: httpx.AsyncClient, jobs: Jobs) -> None:
    plain, failed, done = jobs.submit("plain"), jobs.submit(), jobs.submit()
    jobs.report(failed, "FAILED", "the scene is empty")
    jobs.report(done, "SUCCESSFUL")

    async def listed(**query: Any) -> list[str]:
        answer = await client.get("/jobs", params=query)
        assert answer.status_code == 200, answer.text
        return [each["jobID"] for each in answer.json()["jobs"]]

    assert await listed() == [done, failed, plain]
    assert await listed(type="process") == [done, failed, plain]
    assert await listed(processID="plain") == [plain]
    assert await listed(processID="plain,nutrient", limit=2) == [done, failed]
    assert await listed(status="failed") == [failed]
    assert await listed(status="accepted,running") == [plain]
    assert await listed(error="SCENE") == [failed]
    assert await listed(datetime="2020-01-01T00:00:00Z/..") == [done, failed, plain]
    assert await listed(datetime="../2020-01-01T00:00:00Z") == []
    assert await listed(minDuration=1000) == []
    assert set(await listed(maxDuration=1000)) == {done, failed}
    assert await listed(submitted_by="nobody") == []


@pytest.mark.parametrize(
    "query", ["status=odd", "limit=0", "limit=1001", "limit=x", "datetime=yesterday", "minDuration=-1", "type=x", "unknown=1",
              "before=x", "datetime=2021-01-01T00:00:00Z/2020-01-01T00:00:00Z", "limit=1&limit=2", "f=xml"],
)  # fmt: skip
async def test_req_job_list_parameters_that_are_not_valid(client: httpx.AsyncClient, query: str) -> None:
    assert (await client.get(f"/jobs?{query}")).status_code == 400


async def test_req_dismiss_job_dismiss_success(
    client: httpx.AsyncClient, jobs: Jobs, database: Database
) -> None:
    open_job, ended = jobs.submit(), jobs.submit()
    jobs.report(ended, "SUCCESSFUL")
    for job in (open_job, ended):
        answer = await client.delete(f"/jobs/{job}")
        assert (answer.status_code, answer.json()["status"]) == (200, "dismissed")
    assert [each["jobID"] for each in (await client.get("/jobs")).json()["jobs"]] == [open_job]
    assert (await client.get(f"/jobs/{ended}")).status_code == 404
    assert database.execute("select count(*) from switchyard.thread where status = 'SUCCESSFUL'") == [(1,)]


async def test_req_callback_job_callback(connect: Connect, jobs: Jobs) -> None:
    subscriber = {"successUri": "https://partner.example/done", "failedUri": "https://partner.example/failed"}
    client = await connect(subscriber_action="hook")
    answer = await client.post("/processes/nutrient/execution", json={**EXECUTE, "subscriber": subscriber})
    assert answer.status_code == 201
    ((callbacks,),) = jobs.database.execute("select callbacks from switchyard.action")
    assert [(each["action"], each["when"], each["parameters"]["url"]["value"]) for each in callbacks] == [
        ("hook", ["SUCCESSFUL"], "https://partner.example/done"),
        ("hook", ["failed"], "https://partner.example/failed"),
    ]
    closed = await connect()
    assert (
        await closed.post("/processes/nutrient/execution", json={**EXECUTE, "subscriber": subscriber})
    ).status_code == 422


async def test_an_unchanged_record_is_answered_by_304(client: httpx.AsyncClient, jobs: Jobs) -> None:
    job = jobs.submit()
    first = await client.get(f"/jobs/{job}")
    known = {"If-None-Match": first.headers["etag"]}
    assert (await client.get(f"/jobs/{job}", headers=known)).status_code == 304
    jobs.report(job, "RUNNING")
    assert (await client.get(f"/jobs/{job}", headers=known)).status_code == 200


async def test_files_and_logs_are_sent_whole_or_in_ranges(client: httpx.AsyncClient, jobs: Jobs) -> None:
    job = jobs.submit("plain")
    folder = f"executions/{job}/r1"
    jobs.store.put(f"{folder}/report.html", b"<script>alert(1)</script>")
    jobs.store.put(f"{folder}/log.txt", b"0123456789")
    files = [{"name": "report.html", "key": f"{folder}/report.html"}, {"name": "other", "key": "executions/x/r1/input.json"},
             {"name": "up", "key": f"{folder}/../../x"}]  # fmt: skip
    jobs.store.put("executions/x/r1/input.json", b"secret")
    jobs.succeed(job, {"files": files})
    assert len((await client.get(f"/jobs/{job}/files")).json()["files"]) == 3
    report = await client.get(f"/jobs/{job}/files/report.html")
    assert report.headers["content-security-policy"].startswith("sandbox;")
    for name in ("other", "up", "nothing", "../../x/r1/input.json"):
        assert (await client.get(f"/jobs/{job}/files/{name}")).status_code == 404
    for wanted, status, content in (
        (None, 200, b"0123456789"), ("bytes=2-4", 206, b"234"), ("bytes=-3", 206, b"789"), ("bytes=8-", 206, b"89"),
        ("bytes=20-", 416, None), ("bytes=0-1,3-4", 200, b"0123456789"),
    ):  # fmt: skip
        answer = await client.get(f"/jobs/{job}/log", headers={} if wanted is None else {"Range": wanted})
        assert answer.status_code == status
        assert content is None or answer.content == content
