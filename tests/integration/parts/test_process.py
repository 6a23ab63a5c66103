"""How a part is started, stopped, paused and killed."""

import psutil

from tests.parts.process import Process
from tests.waiting import until


def test_a_paused_process_can_still_be_stopped() -> None:
    part = Process("sleeper", ["sleep", "1000"])
    part.start()
    part.pause()
    until(lambda: psutil.Process(part.pid).status() == psutil.STATUS_STOPPED)
    part.stop()
    assert not part.running()


def test_a_kill_takes_the_whole_family() -> None:
    part = Process("parent", ["sh", "-c", "sleep 1000 & wait"])
    part.start()
    [child] = until(lambda: psutil.Process(part.pid).children())
    part.kill()
    until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)


def test_its_output_is_in_its_log() -> None:
    part = Process("speaker", ["echo", "hello"])
    part.start()
    until(lambda: not part.running())
    assert part.log.read_text() == "hello\n"
    part.stop()
