"""The pool of evaluating processes, shared by a whole program; it ends with the program."""

from functools import cache

from switchyard.process import evaluate
from switchyard.process.bounded.pool import Pool


@cache
def shared_pool() -> Pool:
    """The shared pool; its processes start with the first call."""
    return Pool(preload=evaluate.PRELOAD)
