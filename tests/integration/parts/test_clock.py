"""A program's wall clock jumps while it runs; its monotonic clock and everybody else's do not."""

import subprocess
import sys
import time
from contextlib import closing

from tests.parts.clock import Clock
from tests.parts.need import obtain

DAY = 86_400
TELL = (
    "import datetime, sys, time\n"
    "for _ in sys.stdin:\n"
    "    print(time.time(), datetime.datetime.now(datetime.timezone.utc).timestamp(), time.monotonic(), flush=True)\n"
)


def test_a_jump_is_seen_at_once_by_that_program_alone() -> None:
    with closing(obtain("A clock", Clock)) as clock:
        program = subprocess.Popen(
            [sys.executable, "-c", TELL],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=clock.environ,
        )

        def told() -> list[float]:
            assert program.stdin is not None
            assert program.stdout is not None
            program.stdin.write("\n")
            program.stdin.flush()
            return [float(word) for word in program.stdout.readline().split()]

        with program:
            for days in (0, 40, -1, 0):
                clock.shift(days * DAY)
                wall, now, steady = told()
                assert abs(wall - time.time() - days * DAY) < 10
                assert abs(now - time.time() - days * DAY) < 10
                assert abs(steady - time.monotonic()) < 10
