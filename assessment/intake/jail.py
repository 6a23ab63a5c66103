"""Restrictions of a process that reads an upload: no sockets, programs or other files, and limited writing.

Limits on memory and CPU time are set by `switchyard.process.bounded`, which starts the process.
"""

import ctypes
import platform
import resource
import struct
import sys
from pathlib import Path

from assessment.intake import landlock

FILES = 64
ANSWER = 2**30
"""The largest file that may be written, in bytes: the answer."""

# Architecture; socket, socketpair, connect, bind, execve, execveat, ptrace.
_DENIED = {
    "x86_64": (0xC000003E, (41, 53, 42, 49, 59, 322, 101)),
    "aarch64": (0xC00000B7, (198, 199, 203, 200, 221, 281, 117)),
}
_LOAD, _EQUAL, _RETURN = 0x20, 0x15, 0x06
_ALLOW, _KILL, _EACCES = 0x7FFF0000, 0x80000000, 0x0005000D
_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2


SYSTEM = ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/localtime", "/dev/null", "/dev/urandom")
"""Files that libraries open on first use."""


def enter(upload: Path, folder: Path) -> None:
    """Restrict this process permanently: it can read `upload` and its parts, and write to `folder`."""
    _limit_resources()
    parts = _parts(upload)
    edited = any(part.name.endswith("-wal") for part in parts)  # SQLite indexes the write-ahead log
    landlock.allow_only([*_program(), *parts], [folder, upload.parent] if edited else [folder])
    if sys.platform == "linux" and platform.machine() in _DENIED and not _deny(*_DENIED[platform.machine()]):
        raise RuntimeError("the kernel refuses the filter that keeps a reader from the network")


def _parts(upload: Path) -> list[Path]:
    """The file, and the files in its folder that share its name: .dbf, .shx, -wal."""
    try:
        return [part for part in upload.parent.iterdir() if part.name.startswith(upload.stem)]
    except OSError:
        return [upload]  # if it is unreadable, reading it reports that


def _program() -> list[Path]:
    """The paths of Python, this package and the libraries, with the data of GDAL and PROJ."""
    names = ("assessment", "switchyard", "numpy", "shapely", "pyogrio", "pyarrow", "pyproj")
    files = [getattr(sys.modules.get(name), "__file__", None) for name in names]
    packages = [Path(file).parent for file in files if file]
    libraries = [package.with_name(f"{package.name}.libs") for package in packages]
    places = [sys.prefix, sys.base_prefix, *SYSTEM]
    return [*packages, *libraries, *map(Path, places)]


def _limit_resources() -> None:
    for what, most in (
        (resource.RLIMIT_NOFILE, FILES),
        (resource.RLIMIT_FSIZE, ANSWER),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(what)
        allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(what, (allowed, allowed))


def _deny(architecture: int, numbers: tuple[int, ...]) -> bool:
    """Install a seccomp filter that returns EACCES; a call of another architecture kills the process."""
    steps = [(_LOAD, 0, 0, 4), (_EQUAL, 1, 0, architecture), (_RETURN, 0, 0, _KILL), (_LOAD, 0, 0, 0)]
    for number in numbers:
        steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _EACCES)]
    steps.append((_RETURN, 0, 0, _ALLOW))
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    return bool(libc.prctl(_SECCOMP, _FILTER, program, 0, 0) == 0)
