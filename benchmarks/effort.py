"""Processor time of a process and all that it has started: on a busy machine it tells more than the clock."""

from collections.abc import Iterable

import psutil


def seconds(pids: Iterable[int]) -> float:
    """User and system time of these processes and their children, living and ended."""
    return sum(_of(pid) for pid in pids)


def _of(pid: int) -> float:
    try:
        root = psutil.Process(pid)
        family = [root, *root.children(recursive=True)]
        times = [member.cpu_times() for member in family]
    except psutil.NoSuchProcess:
        return 0.0
    ended = root.cpu_times()
    return sum(one.user + one.system for one in times) + ended.children_user + ended.children_system
