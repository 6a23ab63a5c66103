"""Programs beside each other: one that ends is reported with the end of its log, one that ignores signals is killed."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from switchyard.errors import SwitchyardError
from switchyard.process import linux
from switchyard.up import orphans
from switchyard.up.programs import Programs
from switchyard.up.stop import Stop
from tests.waiting import until

DEAF = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"


@pytest.fixture(autouse=True)
def _nobodys_orphans(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The tests' own process has children that are others', and must not collect the orphans of later tests."""
    children, others = linux.children, set(linux.children())
    monkeypatch.setattr(orphans, "children", lambda: [pid for pid in children() if pid not in others])
    yield
    linux.adopt_orphans(adopt=False)


def test_one_that_ends_by_itself_is_reported_with_the_end_of_its_log(tmp_path: Path) -> None:
    with Programs(tmp_path, {}) as programs:
        programs.start("odd", ("switchyard", "list", "-c", "/no/such/file"))
        programs._running["odd"].wait(60)
        with pytest.raises(SwitchyardError) as raised:
            programs.check()
    assert "odd ended with exit code 78:" in str(raised.value)
    assert "/no/such/file" in str(raised.value)
    assert f"(all of it: {tmp_path}/odd.log)" in str(raised.value)


def test_a_program_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    log = tmp_path / "deaf.log"
    programs = Programs(tmp_path, {})
    with log.open("wb") as words:
        programs._running["deaf"] = subprocess.Popen([sys.executable, "-c", DEAF], stdout=words)
    until(lambda: log.read_text() == "up\n")
    programs.stop(grace=0.05)
    assert programs._running == {}


def test_an_orphan_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    log = tmp_path / "deaf.log"
    linux.adopt_orphans()
    with log.open("wb") as words:
        deaf = subprocess.Popen([sys.executable, "-c", DEAF], stdout=words)
    until(lambda: log.read_text() == "up\n")
    orphans.end(set(linux.children()) - {deaf.pid}, grace=0.05)
    deaf.returncode = -9  # orphans.end has reaped it
    assert deaf.pid not in linux.children()
    assert orphans._ended(deaf.pid), "who is nobody's child any more has ended"


def test_a_stop_that_python_swallowed_is_raised_at_the_next_check() -> None:
    stop = Stop()
    stop.check()
    with pytest.raises(KeyboardInterrupt):
        stop._ask()
    with pytest.raises(KeyboardInterrupt):
        stop.check()
