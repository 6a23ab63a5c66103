"""What a process said, in a file of bounded size."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from switchyard.backends.local.spool.capture import TAIL, Capture


@given(st.lists(st.binary(max_size=300), max_size=30), st.integers(0, 2000))
def test_little_is_kept_whole(pieces: list[bytes], limit: int) -> None:
    assert _captured(pieces, limit) == b"".join(pieces)


@given(st.integers(1, 100_000), st.integers(0, 5000), st.integers(1, 70_000))
def test_much_keeps_its_beginning_and_its_end(more: int, limit: int, step: int) -> None:
    said = bytes(i % 251 for i in range(limit + TAIL + more))
    pieces = [said[start : start + step] for start in range(0, len(said), step)]
    kept = _captured(pieces, limit)
    assert kept == said[:limit] + f"\n[... {more} bytes left out ...]\n".encode() + said[-TAIL:]


def _captured(pieces: list[bytes], limit: int) -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "stdout"
        capture = Capture(path, limit)
        for piece in pieces:
            capture.write(piece)
        capture.close()
        return path.read_bytes()
