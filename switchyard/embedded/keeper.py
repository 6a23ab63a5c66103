"""Runs one Postgres and ends it when nobody uses it any more, however its users ended.

Started as a script of its own, with nothing but the standard library. Users of the server hold a shared lock
on a file; the kernel drops it when they end, by kill -9 too. This process waits for the exclusive lock: when
it gets it, nobody is left, and the server is shut down. It holds the lock until the server is gone, so that a
new user, who waits for the shared one, never meets a server that is stopping.
"""

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
from typing import Any

FAST, IMMEDIATE = signal.SIGINT, signal.SIGQUIT
FAST_WITHIN = 60.0


def main() -> None:
    spec: dict[str, Any] = json.loads(sys.argv[1])
    if os.fork():
        os._exit(0)  # whoever started us waits for this one; the keeper belongs to nobody
    os.setsid()
    os.chdir("/")
    with open(spec["log"], "ab") as log:  # noqa: PTH123 - pathlib would double the start-up time
        os.dup2(log.fileno(), 2)  # what goes wrong from here on is told there
        server = subprocess.Popen(  # noqa: S603 - our own arguments
            spec["argv"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=spec["cwd"],
            start_new_session=True,
            umask=0o077,
            **spec["account"],
        )
    signal.signal(signal.SIGTERM, lambda *_: server.send_signal(FAST))
    threading.Thread(target=end_when_unused, args=(server, spec["users"]), daemon=True).start()
    sys.exit(server.wait())


def end_when_unused(server: "subprocess.Popen[bytes]", users: str) -> None:
    """Wait until the last user is gone, then shut the server down."""
    handle = os.open(users, os.O_RDWR | os.O_CLOEXEC)
    fcntl.flock(handle, fcntl.LOCK_EX)
    server.send_signal(FAST)
    with contextlib.suppress(subprocess.TimeoutExpired):
        server.wait(FAST_WITHIN)
        return
    server.send_signal(IMMEDIATE)


if __name__ == "__main__":
    main()
