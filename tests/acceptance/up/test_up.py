"""`switchyard up` as a new user meets it: from nothing to a finished assessment, and again."""

import fcntl
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

from tests.parts.disk import Disk
from tests.parts.need import obtain
from tests.parts.ports import free_port
from tests.waiting import until

WITHOUT_NETWORK = ("unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh")


def start(folder: Path, *words: str, within: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*within, sys.executable, "-m", "switchyard", "up", "--folder", str(folder), *words],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        env={**os.environ, "SWITCHYARD_SIGNALBOX__LISTEN__PORT": str(free_port())},
    )  # fmt: skip


def network_cut() -> tuple[str, ...]:
    """What starts a command with nothing but its own loopback; nothing where that is not allowed."""
    possible = subprocess.run([*WITHOUT_NETWORK, "true"], capture_output=True, check=False).returncode == 0
    return WITHOUT_NETWORK if possible else ()


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
    first = start(folder, "--once", within=network_cut())
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
    until(lambda: left_running(folder) == [])
    # The second start finds the first one's work done, and asks for nothing new.
    second = start(folder, "--once")
    said_again, _ = second.communicate(timeout=300)
    assert second.returncode == 0, said_again
    assert report[1] in said_again
    assert len(list((folder / "deliveries").glob("*.json"))) == len(delivered)


@pytest.mark.timeout(600)
def test_newuser_26_without_the_sample_it_is_a_place_for_work_of_ones_own(tmp_path: Path) -> None:
    folder = tmp_path / "place"
    running = start(folder, "--no-sample")
    try:
        wait_for("Ready", running)
        assert not (folder / "region").exists()
        file = folder / "switchyard.yaml"
        file.write_text(file.read_text().replace("\nactions:\n", "\nactions:\n  own: {type: noop}\n"))
        command = [sys.executable, "-m", "switchyard", "-c", str(file)]
        uuid = subprocess.run(
            [*command, "submit", "own"], capture_output=True, text=True, check=True
        ).stdout.strip()
        subprocess.run([*command, "watch", uuid], timeout=120, stdout=subprocess.DEVNULL, check=True)
    finally:
        running.send_signal(signal.SIGINT)
        said, _ = running.communicate(timeout=120)
    assert running.returncode in (0, 130), said
    until(lambda: left_running(folder) == [], 30)


@pytest.mark.parametrize("other", ["--once", "--again"])
def test_options_about_the_sample_are_refused_without_it(tmp_path: Path, other: str) -> None:
    refused = start(tmp_path / "place", "--no-sample", other)
    said, _ = refused.communicate(timeout=60)
    assert refused.returncode == 2, said
    assert "--no-sample" in said


def wait_for(pattern: str, running: subprocess.Popen[str]) -> None:
    assert running.stdout is not None
    assert any(re.search(pattern, said) for said in running.stdout), f"never said {pattern}"


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "signals", [(signal.SIGTERM,), (signal.SIGINT, signal.SIGINT), (signal.SIGKILL,)], ids=str
)
def test_a_stop_in_the_middle_of_the_start_leaves_nothing(tmp_path: Path, signals: tuple[int, ...]) -> None:
    running = start(tmp_path / "place")
    wait_for("Starting conductor", running)
    running.send_signal(signals[0])
    for number in signals[1:]:
        wait_for("Stopping", running)
        running.send_signal(number)
    running.communicate(timeout=120)
    # A first signal is carried out; the second, and -9, are deaths.
    assert running.returncode == (0 if signals == (signal.SIGTERM,) else -signals[-1])
    until(lambda: left_running(tmp_path) == [])


@pytest.mark.timeout(600)
def test_what_a_closed_terminal_cut_off_goes_on_at_the_next_start(tmp_path: Path) -> None:
    folder = tmp_path / "place"
    cut_off = start(folder, "--once")
    wait_for(r"\b(PENDING|QUEUED|RUNNING)\b", cut_off)  # it looks now and then, and may not see all of them
    assert cut_off.stdout is not None
    cut_off.stdout.close()
    cut_off.send_signal(signal.SIGHUP)
    assert cut_off.wait(120) == 130
    until(lambda: left_running(tmp_path) == [])
    second = start(folder, "--once")
    said, _ = second.communicate(timeout=300)
    assert second.returncode == 0, said
    told = re.search(r"(\d+) of (\d+) delivered", said)
    assert told
    assert told[1] == told[2] == str(len(list((folder / "deliveries").glob("*.json"))))


def test_a_port_or_folder_in_use_and_one_that_cannot_be_written_are_explained(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        refused = start(tmp_path / "place", "--port", port)
        said, _ = refused.communicate(timeout=120)
    assert (refused.returncode, f"port {port} on 127.0.0.1 is in use" in said) == (78, True)
    with (tmp_path / "place" / "up.lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        refused = start(tmp_path / "place")
        said, _ = refused.communicate(timeout=120)
    assert (refused.returncode, "place already: stop it" in said) == (78, True), said
    blocked = tmp_path / "file"
    blocked.write_text("")
    refused = start(blocked / "place")
    said, _ = refused.communicate(timeout=120)
    assert (refused.returncode, "cannot write to" in said) == (78, True)


def test_a_disk_that_fills_up_is_explained() -> None:
    disk = obtain("a disk to fill", Disk)
    try:
        running = start(disk.folder / "place")
        wait_for("Starting conductor", running)
        disk.fill()
        said, _ = running.communicate(timeout=120)
        assert running.returncode == 78, said
        assert re.search("^switchyard: .*(disk is full|No space left on device)", said, re.MULTILINE), said
        until(lambda: left_running(disk.folder) == [])
    finally:
        disk.close()
