"""Exit codes of all programs; the numbers are those of sysexits.h where it has one."""

import os
import sys
from enum import IntEnum


class Exit(IntEnum):
    """65 is fatal and never retried; 75 means that a retry may succeed later."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    BAD_INPUT = 65
    TRANSIENT = 75
    CONFIG = 78


def say_the_rest() -> None:
    """Flush stdout; if it is closed, keep the exit code (Python would exit with 120)."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
