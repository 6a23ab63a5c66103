"""The server process that forks evaluating children; standard library only.

The server is single-threaded and has imported what evaluation needs, so that a fork takes milliseconds and
is safe. It ends with its parent, and its children end with it. The children get no environment of ours, hence
no secrets, and are the first choice of the kernel's out-of-memory killer.
"""

import contextlib
import importlib
import json
import os
import pickle
import resource
import signal
import socket
import struct
import sys
import time
from pathlib import Path
from typing import BinaryIO

from switchyard.process.linux import die_with_parent

REQUEST = struct.Struct(">QdQQ")  # length, CPU seconds, bytes of memory, bytes of the result
REPLY = struct.Struct(">QBB")  # length, kind, whether the child leaves after this reply
VALUE, RAISED, EXCEEDED = range(3)
FORK, END = b"F", b"E"
PID = struct.Struct(">q")
GROWTH = 64 * 2**20  # a child that still uses this much memory is replaced
_PAGE = resource.getpagesize()


def serve(control: socket.socket, modules: list[str]) -> None:
    """Fork a child for each received socket; end and reap a child on request."""
    # Stopping is the parent's decision: a signal to the whole group must not fail calls during its drain.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    for module in modules:
        importlib.import_module(module)
    while True:
        command, handles, _, _ = socket.recv_fds(control, 1 + PID.size, 1)
        if not command:
            return
        if command[:1] == FORK:
            control.sendall(PID.pack(_fork(control, handles[0])))
        else:
            (pid,) = PID.unpack(command[1:])
            control.sendall(PID.pack(_end(pid)))


def _fork(control: socket.socket, handle: int) -> int:
    server = os.getpid()
    pid = os.fork()
    if pid == 0:
        try:
            control.close()
            if die_with_parent(server, signal.SIGKILL):
                with socket.socket(fileno=handle) as requests, contextlib.suppress(EOFError, OSError):
                    answer(requests)
        finally:
            os._exit(0)
    os.close(handle)
    return pid


def _end(pid: int) -> int:
    """The signal that ended the child, or 0; only its parent can rely on the pid."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0


def answer(requests: socket.socket) -> None:
    """In the child: one request after another, until the other end closes."""
    # Opened now: what a call does to its own process may be to forbid opening files.
    with open("/proc/self/statm", "rb", buffering=0) as statm:  # noqa: PTH123 - Path.open costs more
        _answer(requests, statm)


def _answer(requests: socket.socket, statm: BinaryIO) -> None:
    first = _size(statm)
    while True:
        length, seconds, memory, longest = REQUEST.unpack(receive(requests, REQUEST.size))
        body = receive(requests, length)
        _limit_memory(_size(statm) + memory)
        signal.setitimer(signal.ITIMER_PROF, seconds)
        kind, reply = _evaluated(body, longest)
        signal.setitimer(signal.ITIMER_PROF, 0)
        _limit_memory(None)
        leaving = kind == EXCEEDED or _size(statm) > first + GROWTH
        requests.sendall(REPLY.pack(len(reply), kind, leaving) + reply)
        if leaving:
            return


def _limit_memory(to: int | None) -> None:
    """Set the memory limit, at most the one that the process started with."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = hard if to is None else to if hard == resource.RLIM_INFINITY else min(to, hard)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))


def _evaluated(body: bytes, longest: int) -> tuple[int, bytes]:
    try:
        module, name, arguments = pickle.loads(body)  # noqa: S301 - made by our parent from plain data
        value = getattr(importlib.import_module(module), name)(*arguments)
        reply = json.dumps(value).encode()
    except MemoryError:
        return EXCEEDED, b'"memory"'
    except RecursionError:
        return EXCEEDED, b'"depth"'
    except Exception as error:  # noqa: BLE001 - whatever it is, it is reported to the caller
        return RAISED, json.dumps([type(error).__name__, str(error)[:2000]]).encode()
    if len(reply) > longest:
        return EXCEEDED, b'"result"'
    return VALUE, reply


def receive(connection: socket.socket, length: int, deadline: float | None = None) -> bytes:
    """Receive exactly this many bytes; EOFError if the other end was closed."""
    received = bytearray(length)
    view, at = memoryview(received), 0
    while at < length:
        if deadline is not None:
            connection.settimeout(max(0.001, deadline - time.monotonic()))
        count = connection.recv_into(view[at:])
        if count == 0:
            raise EOFError
        at += count
    return bytes(received)


def _size(statm: BinaryIO) -> int:
    """The size of the address space in bytes, as RLIMIT_AS counts it."""
    statm.seek(0)
    return int(statm.read().split()[0]) * _PAGE


def main(handle: int, parent: int, modules: list[str]) -> None:
    """The server's main function; server.py starts it."""
    sys.dont_write_bytecode = True
    if die_with_parent(parent, signal.SIGKILL):
        with socket.socket(fileno=handle) as control:
            serve(control, modules)
