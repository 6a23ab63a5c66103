"""OGC API Processes 1.0: the requirements that test_ogc.py does not cover, one test each, named after it."""

import base64
import json
from datetime import datetime
from html.parser import HTMLParser
from typing import Any

import httpx
import pytest
from openapi_spec_validator import validate

from signalbox.endpoint import ENDPOINTS
from tests.integration.signalbox.conftest import Connect, Jobs, Token

EXECUTION = "/processes/plain/execution"
PAGES = ("/", "/conformance", "/processes", "/processes/nutrient", "/jobs")


async def test_req_core_http(client: httpx.AsyncClient, jobs: Jobs) -> None:
    assert (await client.head("/jobs")).status_code == 200
    answer = await client.put("/jobs")
    assert (answer.status_code, "GET" in answer.headers["allow"]) == (405, True)
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("path", ["/", "/api", "/conformance", "/processes", "/jobs"])
async def test_req_core_operations_are_at_their_paths(
    client: httpx.AsyncClient, jobs: Jobs, path: str
) -> None:
    """/req/core/landingpage-op, /req/core/api-definition-op, /req/core/conformance-op, /req/core/process-list and
    /req/job-list/job-list-op."""
    assert (await client.get(path)).status_code == 200


async def test_req_core_pl_limit_definition(client: httpx.AsyncClient, jobs: Jobs) -> None:
    parameters = (await client.get("/api")).json()["paths"]["/processes"]["get"]["parameters"]
    [limit] = [each for each in parameters if each["name"] == "limit"]
    assert (limit["in"], limit["schema"]["minimum"], limit["schema"]["maximum"]) == ("query", 1, 1000)
    for wrong in ("0", "1001", "x"):
        assert (await client.get(f"/processes?limit={wrong}")).status_code == 400


async def test_req_core_pl_limit_response(client: httpx.AsyncClient, jobs: Jobs) -> None:
    assert len((await client.get("/processes?limit=1")).json()["processes"]) == 1


async def test_req_core_pl_links(client: httpx.AsyncClient, jobs: Jobs) -> None:
    links = (await client.get("/processes?limit=1")).json()["links"]
    assert {link["rel"] for link in links} == {"self", "alternate", "next"}
    assert all(link["type"] for link in links)


async def executed(client: httpx.AsyncClient, given: Any, process: str = "plain") -> Any:
    answer = await client.post(f"/processes/{process}/execution", json={"inputs": {"a": given}})
    assert answer.status_code == 201, answer.text
    return (await client.get(f"/jobs/{answer.json()['jobID']}/inputs")).json()["inputs"]["a"]


async def test_req_core_process_execute_input_array(client: httpx.AsyncClient, jobs: Jobs) -> None:
    assert await executed(client, [1, {"value": {"x": 2}}, "z"]) == [1, {"x": 2}, "z"]


async def test_req_core_process_execute_input_inline_object(client: httpx.AsyncClient, jobs: Jobs) -> None:
    qualified = {"value": {"measurement": 3}, "mediaType": "application/json"}
    assert await executed(client, qualified) == {"measurement": 3}


async def test_req_core_process_execute_input_mixed_type(client: httpx.AsyncClient, jobs: Jobs) -> None:
    for given in (1.5, "text", True, None, {"value": "<x/>", "mediaType": "application/xml"}):
        assert await executed(client, given) == (given["value"] if isinstance(given, dict) else given)


async def test_req_core_process_execute_input_inline_binary(client: httpx.AsyncClient, jobs: Jobs) -> None:
    text = base64.b64encode(bytes(range(256))).decode()
    assert await executed(client, {"value": text, "encoding": "base64", "mediaType": "image/tiff"}) == text


async def test_req_core_process_execute_input_inline_bbox(client: httpx.AsyncClient, jobs: Jobs) -> None:
    box = {"bbox": [-1.9, 51.7, -1.4, 52.0], "crs": "http://www.opengis.net/def/crs/OGC/1.3/CRS84"}
    jobs.database.execute(
        'update switchyard.route set about = \'{"input": {"properties": {"bbox": {}}}}\' returning 1'
    )
    assert await executed(client, box) == box
    [job] = (await client.get("/jobs")).json()["jobs"]
    assert job["bbox"] == box["bbox"]


async def test_req_core_process_execute_input_cardinality(client: httpx.AsyncClient, jobs: Jobs) -> None:
    described = (await client.get("/processes/nutrient")).json()["inputs"]
    assert (described["scene"]["minOccurs"], described["edition"]["minOccurs"]) == (1, 0)
    answer = await client.post("/processes/nutrient/execution", json={"inputs": {"edition": 3}})
    assert answer.status_code == 422


async def test_req_core_process_execute_request(client: httpx.AsyncClient, jobs: Jobs) -> None:
    """And /req/core/process-execute-op."""
    for wrong in (b"not JSON", b"[]", b'{"inputs": 7}'):
        answer = await client.post(EXECUTION, content=wrong, headers={"Content-Type": "application/json"})
        assert answer.status_code in (400, 422)
    assert (await client.post(EXECUTION, json={})).status_code == 201


async def test_req_core_process_execute_default_execution_mode_is_async_whatever_is_preferred(
    client: httpx.AsyncClient, jobs: Jobs
) -> None:
    """A process that is async-execute alone answers 201, also where the client would rather wait."""
    for prefer in ("respond-sync", "wait=10", "handling=lenient", "respond-async; wait=5"):
        answer = await client.post(EXECUTION, json={}, headers={"Prefer": prefer})
        assert answer.status_code == 201
        applied = answer.headers.get("preference-applied")
        assert applied == ("respond-async" if "respond-async" in prefer else None)


async def test_req_json_definition(client: httpx.AsyncClient, jobs: Jobs) -> None:
    for path in (*PAGES, f"/jobs/{jobs.submit()}"):
        for accept in ("application/json", "*/*", "application/*;q=0.5, text/plain"):
            answer = await client.get(path, headers={"Accept": accept})
            assert answer.headers["content-type"] == "application/json", (path, accept)
            assert isinstance(answer.json(), dict)


class Links(HTMLParser):
    """The addresses that a page links to."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {str(value) for name, value in attrs if tag == "a" and name == "href"}


@pytest.mark.parametrize("path", PAGES)
async def test_req_html_definition(client: httpx.AsyncClient, jobs: Jobs, path: str) -> None:
    for headers, query in (({"Accept": "text/html"}, {}), ({}, {"f": "html"})):
        answer = await client.get(path, headers=headers, params=query)
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        assert answer.text.lstrip().lower().startswith("<!doctype html>")


async def test_req_html_content(client: httpx.AsyncClient, jobs: Jobs) -> None:
    """Every link of every page leads somewhere."""
    job = jobs.submit()
    checked: set[str] = set()
    for path in (
        *PAGES,
        f"/jobs/{job}",
        "/queues",
        "/inbox",
        "/workers",
        "/journal",
        "/schedules",
        "/campaigns",
        "/api",
    ):
        page = await client.get(path, params={"f": "html"})
        assert page.status_code == 200, path
        for href in Links(page.text).found - checked:
            if href.startswith("/"):
                answer = await client.get(href, headers={"Accept": "text/html"})
                assert answer.status_code == 200, (path, href, answer.status_code)
            checked.add(href)
    assert len(checked) > 10


async def test_req_oas30_oas_definition_1_and_2(client: httpx.AsyncClient) -> None:
    """/req/oas30/oas-definition-1, which is the document, and /req/oas30/oas-definition-2, which is its validity."""
    document = (await client.get("/api")).json()
    validate(document)
    assert document["openapi"].startswith("3.0.")
    page = await client.get("/api", headers={"Accept": "text/html"})
    assert page.headers["content-type"].startswith("text/html")
    assert "/processes/{process}/execution" in page.text


async def test_req_oas30_completeness_and_impl(client: httpx.AsyncClient) -> None:
    """/req/oas30/oas-impl: every route is in the document, with its method, and nothing else is."""
    paths = (await client.get("/api")).json()["paths"]
    documented = {(method.upper(), path) for path, methods in paths.items() for method in methods}
    assert documented == {(each.method, each.path.replace(":path}", "}")) for each in ENDPOINTS}


async def test_req_oas30_exceptions_codes(client: httpx.AsyncClient) -> None:
    document = (await client.get("/api")).json()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            wrong = [code for code in operation["responses"] if code.startswith(("4", "5"))]
            assert wrong, (path, method)
    for name, answer in document["components"]["responses"].items():
        assert "application/problem+json" in answer["content"], name


async def test_req_oas30_security(connect: Connect, token: Token) -> None:
    client = await connect(access={})
    document = (await client.get("/api")).json()
    assert document["components"]["securitySchemes"]["bearer"]["scheme"] == "bearer"
    for each in ENDPOINTS:
        operation = document["paths"][each.path.replace(":path}", "}")][each.method.lower()]
        assert ("security" in operation) is bool(each.roles), each.path
    assert (await client.get("/processes")).status_code == 401
    assert (await client.get("/processes", headers=token("reader"))).status_code == 200


async def test_req_ogc_process_description_json_encoding(client: httpx.AsyncClient, jobs: Jobs) -> None:
    """And /req/ogc-process-description/inputs-def, /req/ogc-process-description/input-def,
    /req/ogc-process-description/outputs-def and /req/ogc-process-description/output-def."""
    found = (await client.get("/processes/nutrient")).json()
    assert {"id", "version", "title", "jobControlOptions", "outputTransmission", "links"} <= set(found)
    for each in (*found["inputs"].values(), *found["outputs"].values()):
        assert {"title", "schema"} <= set(each)


async def test_req_ogc_process_description_input_mixed_type(client: httpx.AsyncClient, jobs: Jobs) -> None:
    """And /req/ogc-process-description/output-mixed-type: a `oneOf` is described as the workflow states it."""
    mixed = {"oneOf": [{"type": "string"}, {"type": "object", "required": ["bbox"]}]}
    part = {"type": "object", "properties": {"a": mixed}}
    jobs.database.execute(
        "insert into switchyard.route values ('mixed', 'run', %s) returning 1",
        json.dumps({"input": part, "output": part}),
    )
    found = (await client.get("/processes/mixed")).json()
    assert found["inputs"]["a"]["schema"] == found["outputs"]["a"]["schema"] == mixed


async def listed(client: httpx.AsyncClient, **query: Any) -> list[str]:
    answer = await client.get("/jobs", params=query)
    assert answer.status_code == 200, answer.text
    return [each["jobID"] for each in answer.json()["jobs"]]


async def test_req_job_list_limit_definition_and_response(client: httpx.AsyncClient, jobs: Jobs) -> None:
    """/req/job-list/limit-definition and /req/job-list/limit-response."""
    made = [jobs.submit() for _ in range(3)]
    assert await listed(client, limit=2) == [made[2], made[1]]
    for wrong in (0, 1001, -1):
        assert (await client.get(f"/jobs?limit={wrong}")).status_code == 400


async def test_req_job_list_success_and_definitions(client: httpx.AsyncClient, jobs: Jobs) -> None:
    """/req/job-list/job-list-success, and the parameters in the document as the standard defines them."""
    jobs.submit()
    answer = await client.get("/jobs")
    assert (answer.status_code, set(answer.json()) >= {"jobs", "links"}) == (200, True)
    parameters = (await client.get("/api")).json()["paths"]["/jobs"]["get"]["parameters"]
    found = {each["name"]: each for each in parameters}
    for name in ("type", "processID", "status"):
        assert (found[name]["in"], found[name].get("required", False)) == ("query", False)
        assert (found[name]["schema"]["type"], found[name]["schema"]["items"]["type"]) == ("array", "string")
    assert {"datetime", "minDuration", "maxDuration", "limit"} <= set(found)


async def test_parameters_with_several_values_are_repeated_or_separated_by_commas(
    client: httpx.AsyncClient, jobs: Jobs
) -> None:
    plain, nutrient = jobs.submit("plain"), jobs.submit()
    for processes in (["plain", "nutrient"], "plain,nutrient", ["plain,nutrient", "nothing"]):
        assert await listed(client, processID=processes) == [nutrient, plain]
    assert await listed(client, status=["accepted", "failed"], type=["process"]) == [nutrient, plain]
    page = (await client.get("/jobs", params={"processID": ["plain", "nutrient"], "limit": 1})).json()
    [address] = [link["href"] for link in page["links"] if link["rel"] == "next"]
    assert [each["jobID"] for each in (await client.get(address)).json()["jobs"]] == [plain]


async def test_req_job_list_links(client: httpx.AsyncClient, jobs: Jobs) -> None:
    made = [jobs.submit() for _ in range(5)]
    found, address = [], "/jobs?limit=2&processID=nutrient"
    while address:
        page = (await client.get(address)).json()
        found += [each["jobID"] for each in page["jobs"]]
        address = {link["rel"]: link["href"] for link in page["links"]}.get("next", "")
    assert found == made[::-1]
    links = {link["rel"]: link for link in page["links"]}
    assert (links["self"]["type"], links["alternate"]["type"]) == ("application/json", "text/html")
    alternate = await client.get(links["alternate"]["href"])
    assert alternate.headers["content-type"].startswith("text/html")


async def test_req_job_list_processid_definition_and_response(client: httpx.AsyncClient, jobs: Jobs) -> None:
    """And /req/job-list/processid-response."""
    plain, nutrient = jobs.submit("plain"), jobs.submit()
    assert await listed(client, processID="plain") == [plain]
    assert await listed(client, processID="plain,nutrient") == [nutrient, plain]
    assert {each["processID"] for each in (await client.get("/jobs")).json()["jobs"]} == {"plain", "nutrient"}


@pytest.mark.parametrize("status", ["accepted", "running", "successful", "failed", "dismissed"])
async def test_req_job_list_status_definition_and_response(
    client: httpx.AsyncClient, jobs: Jobs, status: str
) -> None:
    """And /req/job-list/status-response."""
    reports = {"running": "RUNNING", "successful": "SUCCESSFUL", "failed": "FAILED", "dismissed": "CANCELED"}
    made = {"accepted": jobs.submit()}
    for name, report in reports.items():
        made[name] = jobs.submit()
        jobs.report(made[name], report)
    assert await listed(client, status=status) == [made[status]]


async def test_req_job_list_datetime_definition_and_response(client: httpx.AsyncClient, jobs: Jobs) -> None:
    """And /req/job-list/datetime-response."""
    job = jobs.submit()
    created = datetime.fromisoformat((await client.get(f"/jobs/{job}")).json()["created"])
    early, late = created.replace(year=created.year - 1), created.replace(year=created.year + 1)
    spans = {
        f"{early.isoformat()}/{late.isoformat()}": [job],
        f"{early.isoformat()}/..": [job],
        f"../{early.isoformat()}": [],
        f"{late.isoformat()}/..": [],
    }
    for span, expected in spans.items():
        assert await listed(client, datetime=span) == expected, span


async def test_req_job_list_duration_definition_and_response(client: httpx.AsyncClient, jobs: Jobs) -> None:
    """And /req/job-list/duration-response."""
    job = jobs.submit()
    jobs.report(job, "RUNNING")
    jobs.report(job, "SUCCESSFUL")
    jobs.database.execute(
        "update switchyard.thread set started_at = ended_at - interval '90 s' where action_uuid = %s returning 1",
        job,
    )
    assert await listed(client, minDuration=60, maxDuration=120) == [job]
    assert await listed(client, minDuration=120) == []
    assert await listed(client, maxDuration=60) == []


async def test_req_job_list_type_definition_and_response(client: httpx.AsyncClient, jobs: Jobs) -> None:
    """And /req/job-list/type-response."""
    job = jobs.submit()
    assert await listed(client, type="process") == [job]
    assert {each["type"] for each in (await client.get("/jobs")).json()["jobs"]} == {"process"}


async def test_req_dismiss_job_dismiss_op_without_such_a_job(client: httpx.AsyncClient) -> None:
    answer = await client.delete("/jobs/00000000-0000-7000-8000-000000000000")
    assert (answer.status_code, answer.json()["type"].rpartition("/")[2]) == (404, "no-such-job")
