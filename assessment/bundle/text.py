"""A text column as UTF-8 bytes and the end offset n of each text; -1 - n marks a null."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assessment.arrays import Ints


@dataclass(frozen=True)
class Text:
    content: npt.NDArray[np.uint8]
    ends: Ints

    def __len__(self) -> int:
        return len(self.ends)

    def at(self, row: int) -> str | None:
        end = int(self.ends[row])
        if end < 0:
            return None
        before = int(self.ends[row - 1]) if row else 0
        start = before if before >= 0 else -1 - before
        return bytes(self.content[start:end]).decode()

    def all(self) -> list[str | None]:
        return [self.at(row) for row in range(len(self))]


def pack(texts: Iterable[str | None]) -> tuple[bytes, Ints]:
    """Encode texts as bytes and end offsets."""
    content = bytearray()
    ends: list[int] = []
    for text in texts:
        if text is None:
            ends.append(-1 - len(content))
        else:
            content += text.encode()
            ends.append(len(content))
    return bytes(content), np.array(ends, dtype=np.int64)
