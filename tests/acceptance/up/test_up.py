"""`switchyard up` as a new user meets it: from nothing to a finished assessment, and again."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.waiting import until


def start(folder: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "switchyard", "up", "--folder", str(folder), *words],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def left_running(folder: Path) -> list[str]:
    """Processes that have to do with that folder."""
    found = []
    for process in psutil.process_iter(["cmdline"]):
        line = " ".join(process.info["cmdline"] or [])
        if str(folder) in line and process.pid != os.getpid():
            found.append(line)
    return found


@pytest.mark.timeout(600)
def test_from_nothing_to_delivered_callbacks_and_again(tmp_path: Path) -> None:
    folder = tmp_path / "place"
    first = start(folder, "--once")
    said, _ = first.communicate(timeout=300)
    assert first.returncode == 0, said
    report = re.search(r"report and map +(\S+)", said)
    assert report
    assert "<svg" in Path(report[1]).read_text()
    delivered = [json.loads(path.read_text())["body"] for path in (folder / "deliveries").glob("*.json")]
    assert [body["summary"]["sites"] > 0 for body in delivered if body["event"] == "assessment.done"] == [
        True
    ]
    assert f"{len(delivered)} of {len(delivered)} delivered and signed" in said
    until(lambda: left_running(folder) == [], 30)
    # The second start finds the first one's work done, and asks for nothing new.
    second = start(folder, "--once")
    said_again, _ = second.communicate(timeout=300)
    assert second.returncode == 0, said_again
    assert report[1] in said_again
    assert len(list((folder / "deliveries").glob("*.json"))) == len(delivered)


@pytest.mark.timeout(600)
def test_ctrl_c_leaves_nothing_running(tmp_path: Path) -> None:
    folder = tmp_path / "place"
    running = start(folder)
    assert running.stdout is not None
    for line in running.stdout:
        if "SUCCESSFUL" in line:
            break
    running.send_signal(signal.SIGINT)
    running.communicate(timeout=120)
    assert running.returncode == 0
    until(lambda: left_running(folder) == [], 30)


def test_a_port_in_use_and_a_folder_that_cannot_be_written_are_explained(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused = start(tmp_path / "place", "--port", port)
        said, _ = refused.communicate(timeout=120)
    assert (refused.returncode, f"port {port} on 127.0.0.1 is in use" in said) == (78, True)
    blocked = tmp_path / "file"
    blocked.write_text("")
    refused = start(blocked / "place")
    said, _ = refused.communicate(timeout=120)
    assert (refused.returncode, "cannot write to" in said) == (78, True)
