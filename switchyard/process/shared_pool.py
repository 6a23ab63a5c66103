"""The pool of evaluating processes that everything in one program shares; it ends with the program."""

from functools import cache

from switchyard.process import evaluate
from switchyard.process.bounded.pool import Pool


@cache
def shared_pool() -> Pool:
    """Started with its first call, so that a program that evaluates nothing costly has none."""
    return Pool(preload=evaluate.PRELOAD)
