"""Restrict which files a process reading an upload may open: hostile files refer to others by grid or link.

Linux has Landlock since 5.13, but a kernel may be built or started without it. Then this does nothing, and
the limits on time, memory, network and programs remain.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

_CREATE, _ADD, _RESTRICT = 444, 445, 446
_PATH_BENEATH = 1
_VERSION = 1  # the flag that requests it
_NO_NEW_PRIVILEGES = 38
_WRITE_FILE, _READ_FILE, _READ_FOLDER, _REMOVE_FILE, _MAKE_FILE = 1 << 1, 1 << 2, 1 << 3, 1 << 5, 1 << 8
_HANDLED = (1 << 13) - 1  # all rights of the first version, including executing and making devices
_OF_A_FILE = _WRITE_FILE | _READ_FILE

READ = _READ_FILE | _READ_FOLDER
WRITE = READ | _WRITE_FILE | _REMOVE_FILE | _MAKE_FILE


def available() -> bool:
    """Whether the kernel supports Landlock."""
    return sys.platform == "linux" and int(ctypes.CDLL(None).syscall(_CREATE, None, 0, _VERSION)) > 0


def allow_only(read: Iterable[Path], write: Iterable[Path]) -> bool:
    """Restrict this process and its children permanently to these paths. False if there is no Landlock."""
    if not available():
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    handled = struct.pack("Q", _HANDLED)
    rules = libc.syscall(_CREATE, handled, len(handled), 0)
    if rules < 0:
        raise OSError(ctypes.get_errno(), "the files that a reader may open cannot be restricted")
    for paths, rights in ((read, READ), (write, WRITE)):
        for path in paths:
            _allow(libc, rules, path, rights)
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    if libc.syscall(_RESTRICT, rules, 0):
        raise OSError(ctypes.get_errno(), "the files that a reader may open cannot be restricted")
    os.close(rules)
    return True


def _allow(libc: ctypes.CDLL, rules: int, path: Path, rights: int) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # a missing path need not be allowed
    try:
        rule = struct.pack("=Qi", rights if path.is_dir() else rights & _OF_A_FILE, place)
        if libc.syscall(_ADD, rules, _PATH_BENEATH, rule, 0):
            raise OSError(ctypes.get_errno(), f"{path} cannot be allowed")
    finally:
        os.close(place)
