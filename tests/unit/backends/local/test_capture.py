"""What a process said, in a file of bounded size."""

from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from switchyard.backends.local.spool.capture import TAIL, Capture


@given(st.lists(st.binary(max_size=300), max_size=30), st.integers(0, 2000))
def test_short_output_is_stored_whole(pieces: list[bytes], limit: int) -> None:
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


@given(
    st.lists(st.sampled_from([b"Zk9qWerT", b"Zk9q", b"WerT", b"Z", b"k9", b" plain "]), max_size=30),
    st.integers(1, 20),
)
def test_security_m10_a_secret_is_masked_however_it_is_cut(parts: list[bytes], step: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "stderr"
        capture = Capture(path, 10_000, [b"Zk9qWerT", b"Zk9q"])
        whole = b"".join(parts)
        for at in range(0, len(whole), step):
            capture.write(whole[at : at + step])
        capture.close()
        kept = path.read_bytes()
    assert b"Zk9q" not in kept
    assert kept.replace(b"[redacted]", b"").count(b" plain ") == parts.count(b" plain ")


def test_security_m10_nothing_else_is_changed_or_held_back(tmp_path: Path) -> None:
    capture = Capture(tmp_path / "stdout", 10_000, [b"secret"])
    capture.write(b"sec")
    capture.write(b"tion secre")
    capture.close()
    assert (tmp_path / "stdout").read_bytes() == b"section secre"
