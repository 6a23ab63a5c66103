"""The actor of a decision, for its record."""

import getpass
import socket


def actor() -> str:
    """The user and host of this process."""
    return f"{getpass.getuser()}@{socket.gethostname()}"
