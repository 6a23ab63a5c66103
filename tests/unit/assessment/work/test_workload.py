"""The assessment as a workload: which bundle a job gets, and what a message may name as its input."""

import json
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from assessment.bundle.build import build
from assessment.bundle.manifest import Manifest
from assessment.bundle.sources import in_folder
from assessment.request import Request
from assessment.work import job as jobs
from assessment.work.workload import Assessments, _inputs, request_of
from switchyard.aws.queue import Message
from switchyard.errors import BadInput, Transient
from switchyard.places import Places
from switchyard.store import Store, open_store
from tests.unit.assessment.world import box, write_geojson

UUID_A = "019a0000-0000-7000-8000-000000000001"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store((tmp_path / "store").as_uri())


@pytest.fixture
def version(tmp_path: Path) -> Callable[[int], Manifest]:
    """Builds the next version of the bundle in `home`."""

    def built(count: int) -> Manifest:
        (tmp_path / "in").mkdir(exist_ok=True)
        rows = [(box(k, 0, k + 1, 1), {"NAME": str(k)}) for k in range(count)]
        write_geojson(tmp_path / "in" / "lpa_boundaries.geojson", rows)
        return build(in_folder(tmp_path / "in"), tmp_path / "home", lambda _: None)

    return built


def test_a_job_gets_the_current_bundle_or_the_one_that_it_names(
    tmp_path: Path, version: Callable[[int], Manifest]
) -> None:
    first, second = version(20), version(21)
    made = Assessments(tmp_path / "home")
    assert made.bundle(None).version == second.version
    assert made.bundle(first.version).version == first.version
    assert made.bundle(None) is made.bundle(second.version), "opened once"
    third = version(22)
    assert made.bundle(None).version == third.version, "without a restart"
    assert len(made._open) == 1, "those of before are let go"
    with pytest.raises(Transient, match=f"this worker does not have the bundle {first.version}"):
        made.bundle(first.version)


def test_a_worker_on_one_version_knows_its_name(tmp_path: Path, version: Callable[[int], Manifest]) -> None:
    only = version(3)
    (tmp_path / "home" / only.version).rename(tmp_path / "reference")
    made = Assessments(tmp_path / "reference")
    assert made.bundle(only.version).version == only.version
    with pytest.raises(Transient, match="does not have the bundle other"):
        made.bundle("other")


@pytest.mark.parametrize("name", ["../home", "/etc", "", "a/b", "x.toml"])
def test_a_path_opens_nothing(tmp_path: Path, version: Callable[[int], Manifest], name: str) -> None:
    version(3)
    with pytest.raises(BadInput, match="is not a name"):
        Assessments(tmp_path / "home").bundle(name)


def requested(store: Store, **content: Any) -> Request:
    body = json.dumps({"version": 1, "action_uuid": UUID_A, "run": 1, **content})
    return request_of(jobs.parse(Message("m-1", body, "receipt", 1, None), store), store)


@pytest.mark.parametrize("stored", [b"{", b"\xff", b"[" * 100_000])
def test_parameters_that_are_not_json(store: Store, stored: bytes) -> None:
    store.put(f"{Places(UUID(UUID_A), 1).folder}/input.json", stored)
    with pytest.raises(BadInput, match=r"the request executions/\S+/input.json is not JSON"):
        requested(store)


def test_inputs_come_from_our_store_alone(store: Store, tmp_path: Path) -> None:
    store.put("uploads/sites", b"{}")
    (tmp_path / "secret").write_text("{}")
    with ExitStack() as stack:
        found = _inputs(requested(store, input={"url": store.url_of("uploads/sites")}), store, stack)
        assert (found.sites.read_bytes(), found.ponds) == (b"{}", None)
        for url in ((tmp_path / "secret").as_uri(), f"{store.url}/../secret", "s3://other/x"):
            with pytest.raises(BadInput, match=r"is not in this worker's store|key"):
                _inputs(requested(store, input={"url": url}), store, stack)
        with pytest.raises(BadInput, match="the job has no input"):
            _inputs(requested(store), store, stack)
