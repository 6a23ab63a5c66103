"""Becomes the server: changes the account if needed, binds itself to the parent, executes postgres.

In this order: a change of account clears the request for a signal at the parent's end, and exec preserves it.

While Python starts, SIGINT is blocked: it can become a KeyboardInterrupt within a callback of the import
system, where Python ignores exceptions, and the server would run on although it was asked to stop.
"""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from switchyard.process.linux import die_with_parent

# To a postmaster: end in order, without waiting for clients; or as in a crash.
FAST, IMMEDIATE = signal.SIGINT, signal.SIGQUIT


class Spec(NamedTuple):
    """What to become; the account is None where we are that user already."""

    parent: int
    account: tuple[int, int, list[int]] | None
    argv: list[str]
    folder: str


def main(spec: Spec) -> None:
    """Become postgres; returns only if the parent has ended meanwhile."""
    if spec.account is not None:
        user, group, groups = spec.account
        os.setgroups(groups)
        os.setgid(group)
        os.setuid(user)
    os.umask(0o077)
    os.chdir(spec.folder)
    if die_with_parent(spec.parent, FAST):
        signal.signal(FAST, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {FAST})  # ends us here, where it has come
        os.execv(spec.argv[0], spec.argv)  # noqa: S606 - no shell is the point


@contextmanager
def held_back() -> Iterator[None]:
    """What is started inside receives SIGINT once it unblocks it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {FAST})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def command(spec: Spec) -> list[str]:
    """How to start it, independently of Python's environment."""
    path = [os.path.abspath(entry) for entry in sys.path]  # noqa: PTH100 - the empty entry too
    become = f"from {__name__} import Spec, main; main(Spec(*{tuple(spec)!r}))"
    return [sys.executable, "-I", "-c", f"import sys; sys.path[:] = {path!r}; {become}"]
