"""A bundle that is damaged or cannot be read is the operator's to repair: never the fault of an upload."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import assessment
from assessment.bundle.bundle import Bundle, open_bundle
from assessment.bundle.check import check
from assessment.intake.reader import Reader
from assessment.work.outcome import Failed
from assessment.work.policy import failed
from assessment.work.workload import Assessments, assessments
from switchyard.aws.queue import Message
from switchyard.errors import ConfigError
from switchyard.store import open_store
from tests.unit.assessment.conftest import Call
from tests.unit.assessment.files import frame, write
from tests.unit.assessment.work.post import Post, worker
from tests.unit.assessment.world import World

pytestmark = pytest.mark.usefixtures("logging_as_before")
Damage = Callable[[Path], object]
LAYER = Path("coefficient_layer")


def changed(name: str, change: Callable[[bytes], bytes]) -> Damage:
    return lambda folder: (folder / name).write_bytes(change((folder / name).read_bytes()))


def entry(change: Callable[[dict[str, object]], object]) -> Damage:
    """Of the layer in the manifest."""

    def damage(folder: Path) -> None:
        said = json.loads((folder / "manifest.json").read_text())
        change(said["layers"][LAYER.name])
        (folder / "manifest.json").write_text(json.dumps(said))

    return damage


def folder_for_an_array(folder: Path) -> None:
    (folder / LAYER / "coords.npy").unlink()
    (folder / LAYER / "coords.npy").mkdir()


def without_last_row(content: bytes) -> bytes:
    tables = json.loads(content)
    return json.dumps({**tables, "rates_lookup": tables["rates_lookup"][:-1]}).encode()


def in_part(folder: Path) -> None:
    """As if it had been built without a layer and the tables."""
    said = json.loads((folder / "manifest.json").read_text())
    del said["layers"]["nn_catchments"]
    (folder / "manifest.json").write_text(json.dumps({**said, "tables": {}}))


SEEN_BY_EVERYBODY: dict[str, Damage] = {
    "no folder": shutil.rmtree,
    "no manifest": lambda folder: (folder / "manifest.json").unlink(),
    "half a manifest": changed("manifest.json", lambda content: content[: len(content) // 2]),
    "a manifest of zeros": changed("manifest.json", lambda content: bytes(len(content))),
    "a bundle for no assessment": in_part,
    "an empty manifest": changed("manifest.json", lambda _: b""),
    "a manifest of another format": changed("manifest.json", lambda c: c.replace(b'"format": 1', b'"format": 2')),
    "a list for a manifest": changed("manifest.json", lambda _: b"[]"),
    "a column that is missing": entry(lambda e: e["columns"].pop("n_resi_coeff")),  # type: ignore[attr-defined]
    "columns that are a list": entry(lambda e: e.update(columns=[])),
    "an entry with a key too many": entry(lambda e: e.update(colour="red")),
    "no layer folder": lambda folder: shutil.rmtree(folder / LAYER),
    "no array": lambda folder: (folder / LAYER / "coords.npy").unlink(),
    "a folder for an array": folder_for_an_array,
    "half an array": changed("coefficient_layer/coords.npy", lambda content: content[: len(content) // 2]),
    "an array of zeros": changed("coefficient_layer/feature.npy", lambda content: bytes(len(content))),
    "an empty array": changed("coefficient_layer/rings.npy", lambda _: b""),
    "an array of another layer": lambda folder: shutil.copy(
        folder / "wwtw_catchments" / "feature.npy", folder / LAYER / "coords.npy"
    ),
    "counts of another version": entry(lambda e: e.update(pieces=99)),
    "offsets that lead nowhere": changed("coefficient_layer/rings.npy", lambda content: content[:-8] + b"\7" * 8),
    "no level of boxes": entry(lambda e: e.update(levels=0)),
    "no lookups": lambda folder: (folder / "lookups.json").unlink(),
    "half the lookups": changed("lookups.json", lambda content: content[: len(content) // 2]),
    "lookups of zeros": changed("lookups.json", lambda content: bytes(len(content))),
    "lookups without a column": changed("lookups.json", lambda c: c.replace(b"WwTW_code", b"WwTW_kode")),
    "lookups without a table": changed("lookups.json", lambda c: c.replace(b'"rates_lookup"', b'"rates"')),
    "lookups with a row too few": changed("lookups.json", without_last_row),
    "lookups that are a list": changed("lookups.json", lambda _: b"[]"),
}  # fmt: skip
SEEN_BY_ITS_HASH: dict[str, Damage] = {
    "vertices of zeros": changed("coefficient_layer/coords.npy", lambda c: c[:128] + bytes(len(c) - 128)),
    "one bit": changed("nn_catchments/area.npy", lambda content: content[:-1] + bytes([content[-1] ^ 1])),
}
SEEN_BY_A_WORKER = SEEN_BY_EVERYBODY | SEEN_BY_ITS_HASH


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return World()._built(tmp_path_factory.mktemp("world")).folder.parent


@pytest.fixture
def home(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built, tmp_path / "home"))


def current(home: Path) -> Path:
    return home / (home / "current").read_text().strip()


@pytest.mark.parametrize("what", SEEN_BY_EVERYBODY)
def test_the_command_and_the_notebook(home: Path, tmp_path: Path, call: Call, what: str) -> None:
    SEEN_BY_EVERYBODY[what](current(home))
    sites = write(tmp_path / "sites.gpkg", frame())
    ended = call("run", sites, "-b", home, "-o", tmp_path / "out", "-q")
    assert ended.code == 78, ended.err
    assert len(ended.err.splitlines()) == 1
    with pytest.raises(ConfigError):
        assessment.assess(frame(), home)


@pytest.mark.parametrize("what", SEEN_BY_A_WORKER)
def test_a_worker_does_not_start(home: Path, what: str) -> None:
    SEEN_BY_A_WORKER[what](current(home))
    with pytest.raises(ConfigError) as error:
        assessments(str(home))
    assert error.value.exit_code == 78
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("content", [b"", b"\0" * 20, b"\xff\xfe", b"../elsewhere", b"of-long-ago\n"])
def test_a_name_of_the_current_version_that_leads_nowhere(home: Path, content: bytes) -> None:
    (home / "current").write_bytes(content)
    with pytest.raises(ConfigError):
        open_bundle(home)
    with pytest.raises(ConfigError):
        assessments(str(home))


def test_check_names_every_file_that_is_damaged(home: Path) -> None:
    SEEN_BY_ITS_HASH["one bit"](current(home))
    SEEN_BY_EVERYBODY["no array"](current(home))
    assert [(finding.subject, finding.message) for finding in check(current(home))] == [
        ("coefficient_layer/coords.npy", "is missing"),
        ("nn_catchments/area.npy", "is not what was built: its hash differs"),
    ]


@pytest.fixture
def somebody(built: Path) -> Iterator[Path]:
    """A copy of the bundle that another user may look at, and this process as that user."""
    if os.geteuid():
        pytest.skip("only root becomes another user")
    folder = Path(tempfile.mkdtemp(prefix="bundle-"))
    folder.chmod(0o755)
    copied = Path(shutil.copytree(built, folder / "home"))
    os.seteuid(65534)
    try:
        yield copied
    finally:
        os.seteuid(0)
        shutil.rmtree(folder)


def _as_root(change: Callable[[], object]) -> None:
    os.seteuid(0)
    change()
    os.seteuid(65534)


@pytest.mark.parametrize(
    "part", ["", "manifest.json", "lookups.json", "coefficient_layer", "lpa_boundaries/area.npy"]
)
def test_what_the_user_of_the_worker_may_not_read(somebody: Path, part: str) -> None:
    assessments(str(somebody))
    _as_root(lambda: (current(somebody) / part).chmod(0))
    with pytest.raises(ConfigError, match=r"Permission denied|does not contain"):
        assessments(str(somebody))


# later, while the worker runs


def test_a_job_goes_back_to_the_queue_until_the_bundle_is_repaired(home: Path, tmp_path: Path) -> None:
    store = open_store((tmp_path / "store").as_uri())
    store.put("uploads/sites", write(tmp_path / "sites.gpkg", frame()).read_bytes())
    made = Assessments(home, Reader())
    made.bundle(None)
    shutil.move(current(home), tmp_path / "aside")
    version = current(home).name
    shutil.copytree(tmp_path / "aside", home / "next")
    (home / "next" / "lookups.json").write_bytes(b"")
    (home / "current").write_text("next\n")
    queue, status = Post(), Post()
    running = worker(store, queue, status, made.run)
    for delivery in range(1, 31):
        running.pipeline.handle(_job(delivery))
    assert queue.calls == [("hide", "m-1", 120)] * 30, "more often than a job may be delivered or fail"
    assert _reported(status)[-1]["error"].endswith("build or copy it again")
    assert not [report for report in _reported(status) if report["status"] == "FAILED"]
    shutil.move(tmp_path / "aside", home / version)
    (home / "current").write_text(f"{version}\n")
    running.pipeline.handle(_job(31))
    made.reader.close()
    assert queue.calls[-1] == ("delete", "m-1")
    assert _reported(status)[-1]["status"] == "SUCCESSFUL"


def _job(delivery: int, **more: str) -> Message:
    return Message("m-1", json.dumps({"input": {"key": "uploads/sites"}, **more}), "receipt", delivery, None)


def _reported(status: Post) -> list[dict[str, str]]:
    return [json.loads(call[1]) for call in status.calls if call[0] == "send"]


def test_a_bundle_that_was_built_in_part_refuses_no_job(home: Path, tmp_path: Path) -> None:
    """The job goes back; one that asks for what the bundle has nothing of is refused."""
    store = open_store((tmp_path / "store").as_uri())
    store.put("uploads/sites", write(tmp_path / "sites.gpkg", frame()).read_bytes())
    in_part(current(home))
    made = Assessments(home, Reader())
    queue, status = Post(), Post()
    running = worker(store, queue, status, made.run)
    running.pipeline.handle(_job(1))
    assert queue.calls == [("hide", "m-1", 120)]
    assert _reported(status)[-1]["error"].endswith("build it with all of its layers and tables")
    running.pipeline.handle(_job(2, assessment="gcn"))
    assert queue.calls[1:] == [("delete", "m-1")]
    assert _reported(status)[-1]["status"] == "FAILED"
    made.reader.close()


def test_what_was_mapped_at_the_start_is_used_to_the_end(home: Path) -> None:
    made = Assessments(home)
    opened: Bundle = made.bundle(None)
    folder = current(home)
    for file in [path for path in folder.rglob("*") if path.is_file()]:
        file.unlink()
    assert made.bundle(None) is opened
    assert len(opened.layer("coefficient_layer")) == 1


def test_an_error_of_the_configuration_does_not_count_as_an_attempt() -> None:
    assert failed(ConfigError("the bundle is damaged")) == Failed("the bundle is damaged", counts=False)
