"""Start the process itself: own session, limits, and only three inherited descriptors."""

import os
import resource
import signal
from pathlib import Path
from typing import Any, NamedTuple

from switchyard.process.linux import die_with_parent


class Child(NamedTuple):
    """A running process and the read ends of its output."""

    pid: int
    stdout: int
    stderr: int


def spawn(job: dict[str, Any], folder: Path) -> Child:
    """Fork and execute; raises OSError with the reason if the command cannot be executed."""
    out, err, broken = os.pipe2(os.O_CLOEXEC), os.pipe2(os.O_CLOEXEC), os.pipe2(os.O_CLOEXEC)
    supervisor = os.getpid()
    pid = os.fork()
    if pid == 0:
        _become(job, folder, supervisor, (out[1], err[1], broken[1]))
    for _, write_end in (out, err, broken):
        os.close(write_end)
    with os.fdopen(broken[0], "rb") as reasons:
        reason = reasons.read()
    if reason:
        os.waitpid(pid, 0)
        os.close(out[0])
        os.close(err[0])
        raise OSError(reason.decode(errors="replace"))
    return Child(pid, out[0], err[0])


def _become(job: dict[str, Any], folder: Path, parent: int, ends: tuple[int, int, int]) -> None:
    """Runs in the child and never returns."""
    out, err, broken = ends
    try:
        os.setsid()
        if not die_with_parent(parent, signal.SIGKILL):
            os._exit(127)
        _limit(job)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(out, 1)
        os.dup2(err, 2)
        os.chdir(job.get("directory") or folder)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        os.execvpe(job["argv"][0], job["argv"], job["environment"])  # noqa: S606 - without a shell on purpose
    except BaseException as error:  # noqa: BLE001 - any error is reported to the parent, and we exit
        os.write(broken, f"{job['argv'][0]}: {getattr(error, 'strerror', None) or error}".encode())
    finally:
        os._exit(127)


def _limit(job: dict[str, Any]) -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory := job.get("memory"):
        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
