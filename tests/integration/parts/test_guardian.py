"""What the tests start does not outlive them, even when they are killed."""

import signal
import subprocess
import sys
from pathlib import Path

import psutil

from tests.waiting import until

TESTS = """
import time
from tests.parts.guardian import scratch
from tests.parts.process import Process
part = Process("sleeper", ["sleep", "1000"])
part.start()
print(part.pid, scratch("guarded"), flush=True)
time.sleep(1000)
"""


def test_a_killed_session_leaves_nothing_behind() -> None:
    top = Path(__file__).parents[3]
    tests = subprocess.Popen([sys.executable, "-c", TESTS], stdout=subprocess.PIPE, text=True, cwd=top)
    with tests:
        assert tests.stdout is not None
        pid, folder = tests.stdout.readline().split()
        tests.send_signal(signal.SIGKILL)
    until(lambda: not psutil.pid_exists(int(pid)))
    until(lambda: not Path(folder).exists())
