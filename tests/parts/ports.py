"""Loopback ports for the parts, below the range the kernel hands out for outgoing connections.

A port from that range could be taken by a client while the server that owns it is being restarted.
"""

import random
import socket

_random = random.SystemRandom()  # pytest-randomly seeds the shared one alike in every session
_reserved: list[socket.socket] = []


def free_port() -> int:
    """A port that nothing on this machine listens on now, and that no other tests will be given while we run."""
    while True:
        port = _random.randrange(15000, 32000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        if _reserve(port):
            return port


def _reserve(port: int) -> bool:
    """A name that one process at a time can have, and that ends with it: an abstract socket leaves no file."""
    name = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        name.bind(f"\0switchyard-tests-port-{port}")
    except OSError:
        name.close()
        return False
    _reserved.append(name)
    return True
