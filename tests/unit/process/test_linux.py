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
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    handle = process_handle(process.pid)
    assert select.select([handle], [], [], 0)[0] == []
    signal_process(handle, signal.SIGKILL)
    assert select.select([handle], [], [], 60)[0] == [handle]
    assert process.wait(60) == -signal.SIGKILL
    with pytest.raises(ProcessLookupError):
        signal_process(handle, signal.SIGKILL)
    os.close(handle)
    with pytest.raises(ProcessLookupError):
        process_handle(process.pid)
