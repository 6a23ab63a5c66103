"""A full disk is full for everybody, keeps what is on it, and takes more once there is room."""

import errno
from contextlib import closing

import pytest

from tests.parts.disk import Disk
from tests.parts.need import obtain


def test_full_and_free_again() -> None:
    with closing(obtain("A disk of its own", Disk)) as disk:
        (disk.folder / "before").write_bytes(b"x" * 10_000)
        disk.fill()
        with pytest.raises(OSError, match="No space left") as refused:
            (disk.folder / "while").write_bytes(b"x" * 10_000)
        assert refused.value.errno == errno.ENOSPC
        assert (disk.folder / "before").read_bytes() == b"x" * 10_000
        disk.free()
        (disk.folder / "after").write_bytes(b"x" * 10_000)
    assert not disk.folder.exists()
