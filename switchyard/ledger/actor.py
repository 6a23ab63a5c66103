"""Who decides, for the record of a decision."""

import getpass
import socket


def actor() -> str:
    """The user and host of this process."""
    return f"{getpass.getuser()}@{socket.gethostname()}"
