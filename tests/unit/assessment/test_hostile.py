"""Hostile files end as one BadInput within 30 s and 1 GiB, and the next file is read."""

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assessment.intake import landlock
from assessment.intake import reader as limits
from assessment.intake.reader import Reader
from assessment.intake.upload import gcn_sites, nutrient_sites
from switchyard.errors import BadInput
from tests.unit.assessment.files import frame, write
from tests.unit.assessment.hostile import ENDED_BY_TIME, FILES, NAMED, fifo, text

SECONDS = 30.0
BRIEF = {"CPU": 2.0, "ELAPSED": 4.0}
"""Limits for files that end by nothing else; the slow tests wait for the promised ones."""
PEAK = """
import json, resource, sys
from pathlib import Path
from assessment.intake.reader import Reader
from assessment.intake.upload import nutrient_sites
from switchyard.errors import BadInput
from tests.unit.assessment.hostile import FILES
reader = Reader()
for number, name in enumerate(json.loads(sys.argv[2])):
    folder = Path(sys.argv[1], str(number))
    folder.mkdir()
    try:
        nutrient_sites(FILES[name][0](folder), None, reader)
    except BadInput:
        pass
reader.close()
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
"""


@pytest.fixture(scope="module")
def reader() -> Iterator[Reader]:
    reader = Reader()
    reader.start()
    yield reader
    reader.close()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.filterwarnings("ignore")
def test_a_hostile_file_is_one_sentence(
    tmp_path: Path, reader: Reader, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused_in_one_sentence(tmp_path, reader, name, monkeypatch if name in ENDED_BY_TIME else None)


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDED_BY_TIME)
@pytest.mark.filterwarnings("ignore")
def test_an_endless_file_ends_within_what_is_promised(tmp_path: Path, reader: Reader, name: str) -> None:
    refused_in_one_sentence(tmp_path, reader, name)


def refused_in_one_sentence(
    folder: Path, reader: Reader, name: str, patch: pytest.MonkeyPatch | None = None
) -> None:
    """Within the time promised, without a path of ours; the next file is read, with the promised limits."""
    make, words = FILES[name]
    path = make(folder)
    began = time.monotonic()
    within = brief(patch) if patch else contextlib.nullcontext()
    with within, pytest.raises(BadInput, match=words) as caught:
        nutrient_sites(path, None, reader)
    assert time.monotonic() - began < SECONDS
    assert "\n" not in str(caught.value)
    assert str(folder) not in str(caught.value)
    assert len(nutrient_sites(write(folder / "next.geojson", frame()), None, reader)) == 1


@contextlib.contextmanager
def brief(patch: pytest.MonkeyPatch) -> Iterator[None]:
    with patch.context() as within:
        for limit, value in BRIEF.items():
            within.setattr(limits, limit, value)
        yield


def test_memory_and_time_stay_below_what_is_promised() -> None:
    assert limits.MEMORY <= 2**30
    assert limits.CPU < limits.ELAPSED < SECONDS


GREEDY = [name for name, (_, words) in FILES.items() if "memory" in words]


@pytest.mark.parametrize(
    "names",
    [
        pytest.param([name for name in GREEDY if name not in ENDED_BY_TIME], id="files that end"),
        pytest.param(GREEDY, id="all", marks=pytest.mark.slow),
    ],
)
def test_the_memory_of_a_reading_process_stays_below_what_is_promised(
    tmp_path: Path, names: list[str]
) -> None:
    """In a process of its own: this one may have had larger children."""
    argv = [sys.executable, "-c", PEAK, str(tmp_path), json.dumps(names)]
    done = subprocess.run(argv, check=True, capture_output=True, text=True)
    assert 0 < int(done.stdout) <= 2**30


@pytest.mark.parametrize("name", NAMED)
def test_what_cannot_be_read_is_named_with_a_way_out(tmp_path: Path, reader: Reader, name: str) -> None:
    file, content, words = NAMED[name]
    with pytest.raises(BadInput, match=words):
        gcn_sites(text(tmp_path, file, content), None, reader)


def test_a_reader_whose_server_was_killed_starts_another(tmp_path: Path) -> None:
    reader = Reader(spare=True)
    path = write(tmp_path / "sites.geojson", frame())
    assert len(nutrient_sites(path, None, reader)) == 1
    server = reader._server._running
    assert server is not None
    server._process.kill()
    server._process.wait()
    assert len(nutrient_sites(path, None, reader)) == 1
    reader.close()


def test_no_network_and_no_programs(tmp_path: Path) -> None:
    """In a process of its own, because the jail is for good."""
    code = (
        "import os, socket, sys; from pathlib import Path; from assessment.intake import jail\n"
        "jail.enter(Path(sys.argv[1]) / 'in', Path(sys.argv[1]))\n"
        "for call in (socket.socket, lambda: os.execv('/bin/true', ['true'])):\n"
        "    try: call()\n"
        "    except PermissionError: print('refused')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["refused", "refused"]


OPEN = """
import sys
from pathlib import Path
from assessment.intake import jail
upload, other, folder = map(Path, sys.argv[1:])
jail.enter(upload, folder)
for call in (
    upload.read_bytes, upload.with_suffix(".dbf").read_bytes, lambda: (folder / "answer").write_bytes(b"x"),
    other.read_bytes, lambda: other.write_bytes(b"x"), lambda: upload.write_bytes(b"x"), other.unlink,
    Path("/etc/passwd").read_bytes, Path("/proc/1/environ").read_bytes,
):
    try:
        call()
        print("done")
    except PermissionError:
        print("refused")
"""


def test_no_other_files(tmp_path: Path) -> None:
    if not landlock.available():
        pytest.skip("this kernel has no Landlock")
    for folder in ("in", "out"):
        (tmp_path / folder).mkdir()
    for name in ("sites.shp", "sites.dbf", "other.shp"):
        (tmp_path / "in" / name).write_bytes(b"content")
    words = [str(tmp_path / name) for name in ("in/sites.shp", "in/other.shp", "out")]
    done = subprocess.run([sys.executable, "-c", OPEN, *words], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["done"] * 3 + ["refused"] * 6


def test_a_coordinate_system_that_opens_a_pipe_does_not_wait_for_it(tmp_path: Path, reader: Reader) -> None:
    """No test of seconds: the process that waits for a pipe ends by the limit on elapsed time, in other words."""
    if not landlock.available():
        pytest.skip("this kernel has no Landlock")
    with pytest.raises(BadInput) as caught:
        nutrient_sites(fifo(tmp_path), None, reader)
    assert "takes too long" not in str(caught.value)
