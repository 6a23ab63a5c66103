"""Runs a program that ends when its parent does, however that ends: `… switchyard.up.bound PARENT MODULE …`.

The program asks for it itself, and not its parent between fork and exec: a signal that comes just then would
run its handler in the child too.
"""

import runpy
import signal
import sys

from switchyard.process.linux import die_with_parent


def main(parent: int, module: str) -> None:
    """Bind this process to `parent`, then become the program."""
    if not die_with_parent(parent, signal.SIGTERM):
        return
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    given, name = sys.argv[1:3]
    del sys.argv[1:3]
    main(int(given), name)
