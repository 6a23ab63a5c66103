"""Version 7 uuids made here, for many at once; Postgres makes its own with `switchyard.uuid7()`."""

import os
from collections.abc import Iterator
from uuid import UUID


def uuid7s(epoch_seconds: float, count: int) -> Iterator[UUID]:
    """That many uuids of that moment; the place in the list stands in for the fraction of the millisecond."""
    milliseconds = int(epoch_seconds * 1000)
    noise = os.urandom(8 * count)
    for place in range(count):
        moment = (milliseconds + place // 4096) << 80 | 7 << 76 | (place % 4096) << 64
        tail = int.from_bytes(noise[8 * place : 8 * place + 8], "big") & (2**62 - 1)
        yield UUID(int=moment | 2 << 62 | tail)
