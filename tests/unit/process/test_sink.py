"""A log that nobody reads holds nobody up."""

import os
import resource
import subprocess
import sys
import time

import pytest

_, MOST_OPEN = resource.getrlimit(resource.RLIMIT_NOFILE)

WRITES = """
import sys, time
from switchyard.process.log import SINK, configure, get_logger
configure(json=True)
log = get_logger("test")
started = time.monotonic()
for n in range({lines}):
    log.info("a line", n=n, filler="x" * {size})
print(round(time.monotonic() - started, 3), SINK.dropped, flush=True)
sys.stdin.readline()
"""


def spawned(lines: int, size: int, **more: object) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-c", WRITES.format(lines=lines, size=size)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def test_a_pipe_without_a_reader_delays_nothing_and_drops_the_rest() -> None:
    with spawned(lines=12_000, size=10) as process:
        assert process.stdout is not None
        _, dropped = process.stdout.readline().split()
        assert 0 < int(dropped) < 2_500
        process.kill()


def test_lines_arrive_whole_and_in_order_once_somebody_reads() -> None:
    with spawned(lines=3_000, size=6_000) as process:
        assert process.stdout is not None
        assert int(process.stdout.readline().split()[1]) == 0
        _, logged = process.communicate(b"\n")
    numbers = [int(line.split(b'"n": ')[1].split(b",")[0]) for line in logged.splitlines()]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) == 3_000


def test_a_program_ends_though_its_log_has_no_reader() -> None:
    with spawned(lines=2_000, size=100) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        started = time.monotonic()
        process.stdin.close()
        assert process.wait(60) == 0
        assert time.monotonic() - started < 30


def test_a_closed_stderr_ends_no_program() -> None:
    code = "import os; os.close(2)\n" + WRITES.format(lines=10, size=10)
    done = subprocess.run(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, check=True
    )
    assert done.stdout.split()[1] == b"0"


def test_a_reader_that_went_away_ends_no_program() -> None:
    read, write = os.pipe()
    os.close(read)
    code = WRITES.format(lines=10, size=10)
    done = subprocess.run(
        [sys.executable, "-c", code],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=write,
        check=True,
    )
    os.close(write)
    assert done.stdout.split()[1] == b"0"


@pytest.mark.skipif(MOST_OPEN < 1501, reason="no process may have so many files open here")
def test_a_descriptor_beyond_those_of_select_is_written_to() -> None:
    code = (
        f"import os, resource; resource.setrlimit(resource.RLIMIT_NOFILE, (1501, {MOST_OPEN}))\n"
        "os.dup2(2, 1500); os.close(2)\n"
        "import sys; sys.stderr = open(1500, 'w', closefd=False)\n"
    ) + WRITES.format(lines=10, size=10)
    finished = subprocess.run(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, capture_output=True, check=True, timeout=60
    )
    assert finished.stderr.count(b'"a line"') == 10
