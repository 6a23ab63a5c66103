import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchyard.errors import (
    ConfigError,
    StoreBadKey,
    StoreError,
    StoreMissing,
    StoreTooLarge,
    StoreUnavailable,
)
from switchyard.store import locate, open_store
from switchyard.store.file import FileStore
from switchyard.store.key import TEMPORARY, vet
from tests.storing import Promises


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "store")


class TestPromises(Promises):
    """Those of every store."""


def test_readers_never_see_a_half_written_object(store: FileStore) -> None:
    one, two = b"1" * 300_000, b"2" * 300_000
    store.put("a", one)
    done = threading.Event()

    def write() -> None:
        for _ in range(20):
            store.put("a", two)
            store.put("a", one)
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    seen = set()
    while not done.is_set():
        seen.add(store.get("a"))
    thread.join()
    assert seen <= {one, two}


def test_a_file_goes_in_and_is_read_piece_by_piece(store: FileStore, tmp_path: Path) -> None:
    source = tmp_path / "large"
    source.write_bytes(os.urandom(3_000_000))
    store.put_file("big/file", source)
    with store.open("big/file") as file:
        file.seek(1_000_000)
        assert file.read(16) == source.read_bytes()[1_000_000:1_000_016]


def test_what_is_not_there(store: FileStore) -> None:
    assert store.size("no/such") is None
    assert list(store.list("")) == []
    store.delete("no/such")
    with pytest.raises(StoreMissing, match="there is no object file://"):
        store.get("no/such")
    store.put("folder/a", b"")
    assert store.size("folder") is None
    with pytest.raises(StoreMissing):
        store.get("folder")


def test_delete(store: FileStore) -> None:
    store.put("a", b"")
    store.delete("a")
    assert store.size("a") is None


def test_more_than_the_limit_is_refused(store: FileStore) -> None:
    store.put("a", b"12345")
    assert store.get("a", limit=5) == b"12345"
    with pytest.raises(StoreTooLarge, match="is 5 bytes; at most 4"):
        store.get("a", limit=4)


def test_list_is_in_the_order_of_keys_and_leaves_out_what_is_being_written(
    store: FileStore, tmp_path: Path
) -> None:
    keys = ["a-b", "a/b/c", "a/d", "a0", "b", "é"]
    for key in reversed(keys):
        store.put(key, b"")
    (tmp_path / "store" / "a" / f"{TEMPORARY}123").write_bytes(b"half")
    (tmp_path / "store" / "link").symlink_to(tmp_path / "store" / "b")
    assert list(store.list("")) == sorted(keys, key=str.encode) == keys
    assert list(store.list("a/")) == ["a/b/c", "a/d"]
    assert list(store.list("a")) == ["a-b", "a/b/c", "a/d", "a0"]
    assert list(store.list("a/b")) == ["a/b/c"]
    assert list(store.list("a/b/")) == ["a/b/c"]
    assert list(store.list("x/y")) == []


def test_list_is_lazy(store: FileStore) -> None:
    for folder in "abc":
        store.put(f"{folder}/1", b"")
    keys = store.list("")
    assert next(keys) == "a/1"
    store.put("c/2", b"")
    assert list(keys) == ["b/1", "c/1", "c/2"]


BAD = ["", "/", "/etc/passwd", "a//b", "a/", "..", "a/../b", "./a", "a\0b", "a\nb", "\ud800", f"{TEMPORARY}1"]
BAD += ["x" * 256, "/".join(["x" * 200] * 6)]


@pytest.mark.parametrize("key", BAD)
def test_bad_keys_are_refused_everywhere(store: FileStore, key: str, tmp_path: Path) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: store.put(key, b""),
        lambda: store.put_file(key, tmp_path),
        lambda: store.get(key),
        lambda: store.open(key),
        lambda: store.size(key),
        lambda: store.delete(key),
        lambda: store.url_of(key),
    ]
    (tmp_path / "f").touch()
    calls[1] = lambda: store.put_file(key, tmp_path / "f")
    for call in calls:
        with pytest.raises(StoreBadKey):
            call()


@given(st.text(max_size=40))
def test_no_vetted_key_leaves_a_root(key: str) -> None:
    try:
        vet(key)
    except StoreBadKey:
        return
    path = os.path.normpath(os.path.join("/root-of-store", key))  # noqa: PTH118 - the rule itself
    assert path == f"/root-of-store/{key}"


@pytest.mark.parametrize("prefix", ["/a", "../", "a//", "a\0"])
def test_bad_prefixes_are_refused_when_given(store: FileStore, prefix: str) -> None:
    with pytest.raises(StoreBadKey):
        store.list(prefix)


def test_no_link_leads_out_of_the_root(store: FileStore, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("hidden")
    store.put("a", b"")
    (tmp_path / "store" / "way").symlink_to(outside)
    (tmp_path / "store" / "file").symlink_to(outside / "secret")
    for key in ("way/secret", "file"):
        with pytest.raises(StoreError):
            store.get(key)
    with pytest.raises(StoreError):
        store.put("way/new", b"")
    assert not (outside / "new").exists()
    store.put("file", b"mine")
    assert (outside / "secret").read_text() == "hidden"
    assert list(store.list("")) == ["a", "file"]


def test_a_pipe_in_place_of_an_object_does_not_block(store: FileStore, tmp_path: Path) -> None:
    store.put("a", b"")
    os.mkfifo(tmp_path / "store" / "pipe")
    with pytest.raises(StoreMissing, match="not an object"):
        store.get("pipe")


@pytest.mark.parametrize("if_absent", [True, False])
def test_an_object_cannot_be_where_others_are_below(store: FileStore, if_absent: bool) -> None:
    store.put("a/b", b"")
    with pytest.raises(StoreError, match="objects below this key"):
        store.put("a", b"", if_absent=if_absent)
    with pytest.raises(StoreError):
        store.put("a/b/c", b"")


@pytest.mark.parametrize(
    ("number", "kind", "says"),
    [
        (errno.ENOSPC, StoreUnavailable, "the disk is full"),
        (errno.EROFS, StoreError, "read-only"),
        (errno.EACCES, StoreError, "no permission"),
        (errno.EPERM, StoreError, "hard links"),
        (errno.EFBIG, StoreError, "File too large"),
    ],
)
def test_errors_of_the_disk_are_explained_and_leave_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: int,
    kind: type[StoreError],
    says: str,
) -> None:
    store = FileStore(tmp_path / "store")
    store.put("a/b", b"before")

    def fail(_handle: int) -> None:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(StoreError, match=says) as caught:
            store.put("a/b", b"after")
    assert type(caught.value) is kind
    assert caught.value.transient == (kind is StoreUnavailable)
    assert store.get("a/b") == b"before"
    assert [path.name for path in (tmp_path / "store" / "a").iterdir()] == ["b"]


def test_a_really_full_disk(tmp_path: Path) -> None:
    """/dev/full answers every write with ENOSPC, as a full disk does."""
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full")
    store = FileStore(tmp_path)
    opened = os.open

    def full(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        return (
            opened("/dev/full", os.O_WRONLY)
            if str(path).startswith(TEMPORARY)
            else opened(path, flags, mode, dir_fd=dir_fd)
        )

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", full)
        with pytest.raises(StoreUnavailable, match="the disk is full"):
            store.put("a", b"x" * 5_000_000)
    assert store.size("a") is None


def test_a_write_is_synced_before_it_is_shown_and_its_folder_after(
    store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put("a/b", b"")
    steps: list[str] = []
    fsync, rename = os.fsync, os.rename

    def note_fsync(handle: int) -> None:
        steps.append("folder" if os.path.isdir(f"/proc/self/fd/{handle}") else "file")  # noqa: PTH112
        fsync(handle)

    def note_rename(*args: Any, **kwargs: Any) -> None:
        steps.append("rename")
        rename(*args, **kwargs)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(os, "rename", note_rename)
    store.put("a/b", b"x")
    assert steps == ["file", "rename", "folder"]
    steps.clear()
    store.put("new/b", b"x")
    assert steps == ["folder", "file", "rename", "folder"]


def test_urls_go_there_and_back(tmp_path: Path) -> None:
    store = open_store(f"file://{tmp_path}/with%20space/")
    assert store.url == f"file://{tmp_path}/with%20space"
    store.put("x/a b#c?.json", b"1")
    again, key = locate(store.url_of("x/a b#c?.json"))
    assert (again.get(key), key) == (b"1", "a b#c?.json")


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("/var/lib/x", "neither"),
        ("file://var/lib", "three slashes"),
        ("file:relative", "three slashes"),
        ("file:///a/../b", "'..'"),
        ("file:///a%00b", "NUL"),
        ("file:///a?b", "%3F"),
        ("s3://", "no bucket"),
        ("http://user:hunter2@host/x", "neither"),
    ],
)
def test_bad_urls_are_explained(url: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says) as caught:
        open_store(url)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize("if_absent", [True, False])
def test_all_bytes_are_in_the_file_when_it_is_synced(
    store: FileStore, monkeypatch: pytest.MonkeyPatch, if_absent: bool
) -> None:
    sizes: list[int] = []
    fsync = os.fsync

    def note(handle: int) -> None:
        if not os.path.isdir(f"/proc/self/fd/{handle}"):  # noqa: PTH112
            sizes.append(os.fstat(handle).st_size)
        fsync(handle)

    monkeypatch.setattr(os, "fsync", note)
    assert store.put("a", b"x" * 5000, if_absent=if_absent)
    assert sizes == [5000]


def test_the_size_of_a_link_is_not_that_of_its_target(store: FileStore, tmp_path: Path) -> None:
    store.put("a", b"12345")
    (tmp_path / "store" / "link").symlink_to(tmp_path / "store" / "a")
    assert store.size("link") is None


def test_mutation_20_what_is_synced_to_the_disk_is_all_of_it(
    store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    fsync, synced = os.fsync, list[int]()

    def note(handle: int) -> None:
        synced.append(os.fstat(handle).st_size)
        fsync(handle)

    monkeypatch.setattr(os, "fsync", note)
    store.put("a", b"small enough for a buffer")
    assert 25 in synced, "folders are synced too"
