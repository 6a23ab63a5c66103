"""Runs pytest again and again without importing the libraries each time: one fork per run.

A process of its own, started in the folder of a tree. It imports what the tests need from others, nothing of ours, and then
reads one run per line: the arguments of pytest and a time limit. For each it forks, waits, ends everything that the run
started, and writes the exit code.
"""

import contextlib
import ctypes
import importlib
import json
import os
import select
import signal
import sys
import traceback

import pytest

TIMED_OUT = -1
_PR_SET_PDEATHSIG = 1
OUTPUT = "last-run.txt"
_LIBRARIES = (
    "aiohttp", "alembic", "boto3", "jinja2", "jsonpath", "jsonschema", "kubernetes.client", "numpy",
    "prometheus_client", "psutil", "psycopg", "pydantic", "regex", "rich.console", "sqlalchemy", "structlog", "typer",
)  # fmt: skip


def main() -> None:
    for library in _LIBRARIES:
        importlib.import_module(library)
    for line in sys.stdin:
        order = json.loads(line)
        print(_forked(order["arguments"], order["seconds"]), flush=True)


def _forked(arguments: list[str], seconds: float) -> int:
    pid = os.fork()
    if pid == 0:
        _child(arguments)
    handle = os.pidfd_open(pid)
    waiting = select.poll()
    waiting.register(handle, select.POLLIN)
    ended = waiting.poll(seconds * 1000)
    os.close(handle)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status) if ended else TIMED_OUT


def _child(arguments: list[str]) -> None:
    code = 70
    try:
        os.setsid()
        ctypes.CDLL(None).prctl(
            _PR_SET_PDEATHSIG, signal.SIGKILL
        )  # it ends with this process, however that ends
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        output = os.open(OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        code = int(pytest.main(arguments))
    except BaseException:  # noqa: BLE001 - the process ends here
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
