"""Loopback ports for the parts, below the range the kernel hands out for outgoing connections.

A port from that range could be taken by a client while the server that owns it is being restarted.
"""

import random
import socket

_random = random.SystemRandom()  # pytest-randomly seeds the shared one alike in every session


def free_port() -> int:
    """A port that nothing on this machine listens on now."""
    while True:
        port = _random.randrange(15000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
