"""Two signalboxes behind a proxy that authenticates, under a base path; one of them ends."""

import re
from contextlib import closing
from pathlib import Path

import httpx

from tests.acceptance.signalbox.balancer import Balancer
from tests.deployment.deployment import Deployment
from tests.deployment.ready import ready
from tests.parts.database import Database
from tests.parts.ports import free_port
from tests.waiting import until

SETTINGS = {
    "base_path": "/yard",
    "public_url": "https://jobs.example",
    "access": {"proxy": {"networks": ["127.0.0.0/8"], "roles": {"ops": "operator"}}},
    "health": {"port": None},
}


def test_both_answer_under_the_base_path_and_one_may_end(database: Database, tmp_path: Path) -> None:
    database.execute("insert into switchyard.route values ('plain', 'run', null) returning 1")
    with closing(Deployment(database, tmp_path, {"signalbox": SETTINGS})) as deployment:
        ports, programs = [free_port(), free_port()], []
        for port in ports:
            deployment.environ["SWITCHYARD_SIGNALBOX__LISTEN__PORT"] = str(port)
            programs.append(deployment.program("signalbox"))
            programs[-1].start()
        for port in ports:
            until(lambda port=port: ready(f"http://127.0.0.1:{port}/yard"))  # type: ignore[misc]
        with (
            closing(Balancer(ports, "ann", "ops")) as balancer,
            httpx.Client(base_url=balancer.url) as client,
        ):
            jobs = set()
            for _ in range(4):
                answer = client.post(
                    "/yard/processes/plain/execution", json={}, headers={"Idempotency-Key": "one"}
                )
                assert answer.status_code == 201, answer.text
                assert answer.headers["location"].startswith("https://jobs.example/yard/jobs/")
                jobs.add(answer.json()["jobID"])
            assert len(jobs) == 1
            assert all(count == 2 for count in balancer.sent.values())
            _every_address_of_a_page_is_below_the_base_path(client)
            assert programs[0].stop() == 0
            job = jobs.pop()
            for _ in range(4):
                assert client.get(f"/yard/jobs/{job}").json()["switchyard"]["submitted_by"] == "proxy:ann"
            assert client.get(f"/jobs/{job}").status_code == 404


def _every_address_of_a_page_is_below_the_base_path(client: httpx.Client) -> None:
    page = client.get("/yard/jobs", headers={"Accept": "text/html"}).text
    addresses = re.findall(r'(?:href|src|action|data-stream)="([^"]*)"', page)
    assert len(addresses) > 10
    for address in addresses:
        assert address.startswith(("/yard", "#", "https://jobs.example/yard")), address
        if address.startswith("/yard/static"):
            assert client.get(address).status_code == 200, address
