"""`assessment work` as it is deployed: the command, a queue, a bundle, real signals."""

import json
import re
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from assessment.spec import CHUNK
from switchyard.store import open_store
from tests.integration.assessment.work.station import Station
from tests.parts.aws import AwsPart
from tests.unit.assessment.hostile import FILES
from tests.uuids import uuid7
from tests.waiting import until

WORK = ("-m", "assessment", "work")


@pytest.fixture
def station(elasticmq: AwsPart, tmp_path: Path) -> Iterator[Station]:
    with closing(Station(elasticmq, tmp_path)) as made:
        yield made


def output(station: Station, end: dict[str, Any]) -> Any:
    assert end["status"] == "SUCCESSFUL", end
    return json.loads(station.store.get(end["output"]))


def test_jobs_of_every_form_are_assessed(station: Station, region: Path) -> None:
    for name in ("sites", "newt_sites", "ponds"):
        station.store.put(f"uploads/{name}.geojson", (region / f"{name}.geojson").read_bytes())
    sites = json.loads((region / "sites.geojson").read_text())
    few = {**sites, "features": sites["features"][:3]}
    inline = station.send(assessment="nutrient", input={"geojson": few})
    stored = station.send(assessment="nutrient", mode="compatible", input={"key": "uploads/sites.geojson"})
    newts = station.send(
        assessment="gcn", input={"key": "uploads/newt_sites.geojson"}, ponds={"key": "uploads/ponds.geojson"}
    )
    pointed = _as_conductor_points_to_it(station)
    traversing = station.send(input={"key": "../../etc/passwd"})
    path = station.send(input={"geojson": few}, edition="/etc/passwd.toml")
    worker = station.spawn(*WORK, SWITCHYARD_BUNDLE=str(region / "bundle"), SQS_VISIBILITY_TIMEOUT="60")

    assert output(station, station.end(inline, 90))["summary"]["sites_submitted"] == 3
    whole = output(station, station.end(stored))
    assert whole["summary"]["sites_submitted"] == len(sites["features"])
    assert output(station, station.end(newts))["assessment"] == "gcn"
    files = {file["name"] for file in output(station, station.end(pointed))["files"]}
    assert files == {"nutrient.geojson", "out_of_scope.geojson", "report.html"}
    for bad in (traversing, path):
        end = station.end(bad)
        assert (end["status"], end["fatal"]) == ("FAILED", True)
    worker.send(signal.SIGTERM)
    assert worker.wait(60) == 0
    assert station.empty()


NASTY = (
    "GML with an entity from a file",
    "a GeoPackage whose view loads a library",
    "compound curves nested 100,000 deep in a GeoPackage",
    "GeoParquet with a page of 300 MiB",
    "a ring of 200,000 arcs in a GeoPackage",
)
"""They read other files, load code, and exhaust the stack, the memory and the time of who reads them."""


def test_hostile_uploads_are_refused_one_after_the_other_and_a_good_one_is_assessed(
    elasticmq: AwsPart, s3: AwsPart, region: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On SQS and S3, by one process whose /health is correct all the time."""
    for name, value in s3.environ.items():
        monkeypatch.setenv(name, value)
    store = open_store(f"s3://{s3.bucket()}/worker")
    with closing(Station(elasticmq, tmp_path, store, {**elasticmq.environ, **s3.environ})) as station:
        jobs = [_upload(station, FILES[name][0](_folder(tmp_path, k)), k) for k, name in enumerate(NASTY)]
        good = _upload(station, region / "sites.geojson", len(NASTY))
        worker = station.spawn(*WORK, SWITCHYARD_BUNDLE=str(region / "bundle"), SQS_VISIBILITY_TIMEOUT="60")
        until(lambda: worker.health()[0] == 200)
        answers: list[tuple[int, Any]] = []

        def all_ended() -> bool:
            answers.append(worker.health())
            return len(station.ends()) == len(jobs) + 1

        until(all_ended, 120, every=0.02)
        assert {(status, body["status"]) for status, body in answers} == {(200, "ok")}
        for name, uuid in zip(NASTY, jobs, strict=True):
            end = station.end(uuid)
            assert (end["status"], end["fatal"], end["delivery"]) == ("FAILED", True, 1), end
            assert re.search(FILES[name][1], end["error"]), end["error"]
            assert "\n" not in end["error"]
            assert str(tmp_path) not in end["error"]
        assert output(station, station.end(good))["summary"]["sites"] > 0
        assert worker.running()
        assert len([line for line in worker.lines() if line["event"] == "worker started"]) == 1
        assert until(station.empty)


def _folder(folder: Path, number: int) -> Path:
    made = folder / f"hostile-{number}"
    made.mkdir()
    return made


def _upload(station: Station, file: Path, number: int) -> str:
    station.store.put(f"uploads/{number}", file.read_bytes())
    return station.send(assessment="nutrient", input={"key": f"uploads/{number}"})


def _as_conductor_points_to_it(station: Station) -> str:
    """What has no place in a message is in the execution's input.json, and the message says so."""
    uuid = str(uuid7())
    home = station.home(uuid)
    request = {"input": {"key": "uploads/sites.geojson"}, "formats": ["geojson"]}
    station.store.put(f"{home}/input.json", json.dumps(request).encode())
    return station.send(uuid, input={"key": f"{home}/input.json"}, output=station.store.url_of(home))


def test_a_killed_assessment_goes_on_where_it_was(station: Station, region: Path, tmp_path: Path) -> None:
    sites = json.loads((region / "sites.geojson").read_text())
    many = [sites["features"][k % len(sites["features"])] for k in range(2000)]
    station.store.put("many.geojson", json.dumps({**sites, "features": many}).encode())
    uuid = station.send(input={"key": "many.geojson"})
    checkpoint = tmp_path / "store" / station.home(uuid) / "checkpoint"
    first = station.spawn(*WORK, SWITCHYARD_BUNDLE=str(region / "bundle"))
    until(lambda: len(list(checkpoint.glob("*.json"))) >= 3, every=0.005)
    first.kill()
    before = {file.name: file.stat().st_mtime_ns for file in checkpoint.glob("*.json")}
    assert station.store.size(f"{station.home(uuid)}/output.json") is None
    station.spawn(*WORK, SWITCHYARD_BUNDLE=str(region / "bundle"))
    end = output(station, station.end(uuid, 90))
    after = {file.name: file.stat().st_mtime_ns for file in checkpoint.glob("*.json")}
    assert len(after) == 2000 // CHUNK
    assert before.items() <= after.items(), "what was done was not done again"
    assert end["summary"]["sites_submitted"] == 2000
