"""Hostile files end as one BadInput within 30 s and 1 GiB, and the next file is read."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from assessment.intake import reader as limits
from assessment.intake.reader import Reader
from assessment.intake.upload import gcn_sites, nutrient_sites
from switchyard.errors import BadInput
from tests.unit.assessment.files import frame, write
from tests.unit.assessment.hostile import FILES, NAMED, text

SECONDS = 30.0
PEAK = """
import resource, sys
from pathlib import Path
from assessment.intake.reader import Reader
from assessment.intake.upload import nutrient_sites
from switchyard.errors import BadInput
from tests.unit.assessment.hostile import FILES
reader = Reader()
for name, (make, words) in FILES.items():
    if "memory" in words:
        try:
            nutrient_sites(make(Path(sys.argv[1])), None, reader)
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
def test_a_hostile_file_is_one_sentence(tmp_path: Path, reader: Reader, name: str) -> None:
    make, words = FILES[name]
    path = make(tmp_path)
    began = time.monotonic()
    with pytest.raises(BadInput, match=words) as caught:
        nutrient_sites(path, None, reader)
    assert time.monotonic() - began < SECONDS
    assert "\n" not in str(caught.value)
    assert str(tmp_path) not in str(caught.value)
    assert len(nutrient_sites(write(tmp_path / "next.geojson", frame()), None, reader)) == 1


def test_memory_and_time_stay_below_what_is_promised() -> None:
    assert limits.MEMORY <= 2**30
    assert limits.CPU < limits.ELAPSED < SECONDS


def test_the_memory_of_a_reading_process_stays_below_what_is_promised(tmp_path: Path) -> None:
    """In a process of its own: this one may have had larger children."""
    done = subprocess.run([sys.executable, "-c", PEAK, tmp_path], check=True, capture_output=True, text=True)
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
        "import os, socket; from assessment.intake import jail; jail.enter()\n"
        "for call in (socket.socket, lambda: os.execv('/bin/true', ['true'])):\n"
        "    try: call()\n"
        "    except PermissionError: print('refused')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["refused", "refused"]
