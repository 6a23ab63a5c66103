"""Version 7 UUIDs for tests, as the product makes them."""

import time
from uuid import UUID

from switchyard.submit.write import uuid7s


def uuid7() -> UUID:
    """A new one, of now."""
    return next(uuid7s(time.time(), 1))
