"""CPU time of a process and its children: on a busy machine more meaningful than elapsed time."""

from collections.abc import Iterable

import psutil


def seconds(pids: Iterable[int]) -> float:
    """User and system time of these processes and their children, living and ended."""
    return sum(_of(pid) for pid in pids)


def _of(pid: int) -> float:
    try:
        root = psutil.Process(pid)
        ended = root.cpu_times()
        family = [root, *root.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0.0
    return ended.children_user + ended.children_system + sum(map(_alone, family))


def _alone(member: psutil.Process) -> float:
    try:
        times = member.cpu_times()
    except psutil.NoSuchProcess:
        return 0.0  # it ended meanwhile: its parent has its time by now, or will at the next look
    return times.user + times.system
