"""Clients that nobody here wrote: OWSLib, Terradue's, and schemathesis over the OpenAPI document."""

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import pytest
from ogc_api_processes_client.api_client_wrapper import ApiClientWrapper
from ogc_api_processes_client.configuration import Configuration
from owslib.ogcapi.processes import Processes

from switchyard.places import Places
from switchyard.remote import connect
from switchyard.tokens import hash_of, new_token
from tests.deployment.deployment import BIN, Deployment
from tests.deployment.ready import ready
from tests.parts.database import Database
from tests.parts.ports import free_port
from tests.waiting import until

ABOUT = {
    "title": "Nutrient assessment",
    "input": {"type": "object", "properties": {"scene": {"type": "string"}}, "required": ["scene"]},
}
# A stream does not end, and failed logins would have every other request refused.
EXCLUDED = [each for path in ("/stream", "/login") for each in ("--exclude-path", path)]


class Served(Deployment):
    """A signalbox with one process; `token` is an admin's."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.port = free_port()
        super().__init__(
            database, folder, {"signalbox": {"listen": {"port": self.port}, "health": {"port": None}}}
        )
        self.token = new_token()
        database.execute(
            "select switchyard.add_token('test', %s, 'admin', null, 'test')", hash_of(self.token)
        )
        database.execute(
            "insert into switchyard.route values ('nutrient', 'run', %s) returning 1", json.dumps(ABOUT)
        )
        self.url = f"http://127.0.0.1:{self.port}"
        self.headers = {"Authorization": f"Bearer {self.token}"}
        self.signalbox = self.program("signalbox")
        self.signalbox.start()
        until(lambda: ready(self.url))


@pytest.fixture
def served(database: Database, tmp_path: Path) -> Iterator[Served]:
    served = Served(database, tmp_path)
    yield served
    served.close()


def test_owslib_finds_processes_executes_one_and_reads_the_api(served: Served) -> None:
    client = Processes(served.url + "/", headers=served.headers)
    assert [each["id"] for each in client.processes()] == ["nutrient"]
    assert client.process("nutrient")["inputs"]["scene"]["schema"] == {"type": "string"}
    job = client.execute("nutrient", inputs={"scene": "S2A"})
    assert job["status"] == "accepted"
    assert "/jobs" in client.api()["paths"]
    assert served.database.execute("select parameters from switchyard.action") == [({"scene": "S2A"},)]


def test_terradues_client_executes_follows_and_dismisses_a_job(served: Served) -> None:
    """As far as it works with any server: it reads the list of processes by models that the standard does not have."""
    client = ApiClientWrapper(  # type: ignore[no-untyped-call]
        configuration=Configuration(host=served.url),
        header_name="Authorization",
        header_value=f"Bearer {served.token}",
    )
    assert client.get_landing_page().title == "Switchyard"
    assert any(each.endswith("/conf/core") for each in client.get_conformance_classes().conforms_to)
    assert [each.id for each in client.get_processes().processes] == ["nutrient"]
    assert client.get_process_description("nutrient").version == "1"
    job = client.execute_simple(
        "nutrient",
        {"inputs": {"scene": "S2A"}},
        _headers={**served.headers, "Content-Type": "application/json"},
    )
    assert client.get_status(job.job_id).status == "accepted"
    assert [each.job_id for each in client.get_jobs().jobs] == [job.job_id]
    assert client.dismiss(job.job_id).status == "dismissed"
    assert served.database.execute("select status::text from switchyard.thread") == [("CANCELED",)]


def test_our_client_follows_a_job_to_its_results(served: Served) -> None:
    with connect(served.url, token=served.token) as client:
        job = client.submit("nutrient", {"scene": "S2A"}, idempotency_key="1", tags=["a"])
        assert client.submit("nutrient", {"scene": "S2A"}, idempotency_key="1", tags=["a"]) == job
        assert [each.id for each in client.list(status="accepted")] == [job]
        with pytest.raises(TimeoutError):
            client.wait(job, timeout=0.1)
        served.store.put(Places(UUID(str(job)), 1).output, b'{"n": 3}')
        served.ledger.event(job, "SUCCESSFUL", 1)
        assert client.wait(job, timeout=60).status == "successful"
        assert client.results(job) == {"n": 3}
        assert client.events(job)[-1]["status"] == "SUCCESSFUL"


def test_schemathesis_finds_no_server_error_and_no_undocumented_answer(
    served: Served, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """About 2,400 cases; `make test-api` runs more than 5,000."""
    examples = request.config.getoption("--api-examples")
    argv = [
        BIN / "schemathesis", "run", f"{served.url}/api", "-H", f"Authorization: Bearer {served.token}", "--max-examples", examples,
        "--checks", "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance",
        "--phases", "examples,coverage,fuzzing", "--seed", "7", "--generation-database", "none", "--no-color",
        "--request-timeout", "60", "--continue-on-failure", "--suppress-health-check", "all", "--generation-with-security-parameters", "false", *EXCLUDED,
    ]  # fmt: skip
    done = subprocess.run(
        [str(each) for each in argv], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    counted = re.search(r"Test cases:\s+(\d+) generated, (\d+) passed", done.stdout)
    assert counted is not None, done.stdout[-2000:]
    made, passed = (int(each) for each in counted.groups())
    print(f"schemathesis: {made:,} cases")
    assert made == passed >= request.config.getoption("--api-cases")
