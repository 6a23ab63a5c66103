"""How every program of ours ends; the numbers are those of sysexits.h where it has one."""

from enum import IntEnum


class Exit(IntEnum):
    """65 is fatal at every level and never retried; 75 says that the same again may work later."""

    OK = 0
    FAILURE = 1
    USAGE = 2
    BAD_INPUT = 65
    TRANSIENT = 75
    CONFIG = 78
