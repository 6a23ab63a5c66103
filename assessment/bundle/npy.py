"""Write and hash .npy files in parts, so that no array has to be in memory as a whole."""

import hashlib
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt


class NpyWriter:
    """Appends rows to a .npy file whose shape is known in advance."""

    def __init__(self, path: Path, dtype: str, shape: tuple[int, ...]) -> None:
        self._file = path.open("wb")
        self._dtype, self._left = np.dtype(dtype), int(np.prod(shape, dtype=np.int64))
        header = {"descr": np.lib.format.dtype_to_descr(self._dtype), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self._file, header)

    def write(self, rows: npt.NDArray[Any]) -> None:
        content = np.ascontiguousarray(rows, dtype=self._dtype)
        self._left -= content.size
        self._file.write(content.data.cast("B") if content.size else b"")

    def __enter__(self) -> "NpyWriter":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        assert error is not None or self._left == 0, "fewer rows were written than the header promises"


def save(path: Path, array: npt.NDArray[Any]) -> None:
    """Write a whole array."""
    with NpyWriter(path, array.dtype.str, array.shape) as writer:
        writer.write(array)


def digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
