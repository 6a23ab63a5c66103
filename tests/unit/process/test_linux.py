"""Descriptors of processes, with what Python offers and with the system calls where it does not."""

import os
import select
import signal
import subprocess
import sys

import pytest

from switchyard.process.linux import process_handle, signal_process


@pytest.fixture(params=["of this Python", "system calls"])
def calls(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "system calls":
        monkeypatch.delattr(os, "pidfd_open", raising=False)
        monkeypatch.delattr(signal, "pidfd_send_signal", raising=False)


@pytest.mark.usefixtures("calls")
def test_a_process_is_signaled_and_its_end_seen_by_its_descriptor() -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as process:
        handle = process_handle(process.pid)
        waiting = select.poll()
        waiting.register(handle, select.POLLIN)
        assert waiting.poll(0) == []
        signal_process(handle, signal.SIGKILL)
        assert waiting.poll(60_000) == [(handle, select.POLLIN)]
        assert process.wait(60) == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        signal_process(handle, signal.SIGKILL)
    os.close(handle)
    with pytest.raises(ProcessLookupError):
        process_handle(process.pid)
