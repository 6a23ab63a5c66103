"""A folder as object store.

Model: an object is one file. It is written beside its place under a temporary name, synced, then renamed,
or hard linked where it must not replace another, and the folder is synced: a reader sees it whole, and it
survives a power cut once the call has returned. A writer that dies leaves a temporary file that is never
listed or read. Every path is walked from the root by directory handles that follow no symbolic link, so no
key, and no planted link, leads out of the root. Unlike S3, `a` and `a/b` cannot both be objects.
"""

import contextlib
import errno
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from io import BytesIO
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

from switchyard.errors import StoreError, StoreMissing, StoreTooLarge
from switchyard.store.file_errors import explained
from switchyard.store.folder import entered
from switchyard.store.key import TEMPORARY, vet, vet_prefix

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class FileStore:
    """Objects in a folder of this machine, or of a file system that all machines share."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._url = "file://" + quote(str(root)).rstrip("/")

    @property
    def url(self) -> str:
        return self._url

    def url_of(self, key: str) -> str:
        return f"{self.url}/{quote(vet(key))}"

    def put(self, key: str, data: bytes, *, if_absent: bool = False) -> bool:
        return self._write(key, BytesIO(data), _link if if_absent else _replace)

    def put_file(self, key: str, path: Path) -> None:
        try:
            source = path.open("rb")
        except OSError as error:
            raise StoreError(f"cannot read {path}: {os.strerror(error.errno or 0)}") from error
        with source:
            self._write(key, source, _replace)

    def get(self, key: str, limit: int | None = None) -> bytes:
        with self.open(key) as file, explained("read", self.url_of(key)):
            size = os.fstat(file.fileno()).st_size
            if limit is not None and size > limit:
                raise StoreTooLarge(f"{self.url_of(key)} is {size} bytes; at most {limit} are taken")
            return file.read()

    def open(self, key: str) -> BinaryIO:
        with explained("read", self.url_of(key)), self._folder_of(key) as (folder, name):
            handle = os.open(name, _READ, dir_fd=folder)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise StoreMissing(f"{self.url_of(key)} is not an object but a folder or a device")
        return os.fdopen(handle, "rb")

    def size(self, key: str) -> int | None:
        try:
            with explained("look at", self.url_of(key)), self._folder_of(key) as (folder, name):
                status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except StoreMissing:
            return None
        return status.st_size if stat.S_ISREG(status.st_mode) else None

    def list(self, prefix: str) -> Iterator[str]:
        # Vetted here, not in the generator: a bad prefix should fail where it is given.
        start = vet_prefix(prefix).rpartition("/")[0]
        return self._walk(f"{start}/" if start else "", prefix)

    def delete(self, key: str) -> None:
        with (
            contextlib.suppress(StoreMissing),
            explained("delete", self.url_of(key)),
            self._folder_of(key) as (folder, name),
            contextlib.suppress(IsADirectoryError),  # no object, whatever is below it
        ):
            os.unlink(name, dir_fd=folder)

    def _write(self, key: str, source: BinaryIO, publish: Callable[[int, str, str], bool]) -> bool:
        with explained("write", self.url_of(key)), self._folder_of(key, create=True) as (folder, name):
            part = TEMPORARY + secrets.token_hex(12)
            try:
                with os.fdopen(os.open(part, _NEW, 0o666, dir_fd=folder), "wb") as file:
                    shutil.copyfileobj(source, file, 1 << 20)
                    file.flush()
                    os.fsync(file.fileno())
                return publish(folder, part, name)
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(part, dir_fd=folder)
                # Also where another writer was first: what we report has to be durable.
                os.fsync(folder)

    def _folder_of(self, key: str, *, create: bool = False) -> AbstractContextManager[tuple[int, str]]:
        return entered(self._root, vet(key), create=create)

    def _walk(self, start: str, prefix: str) -> Iterator[str]:
        for name, is_folder in self._entries(start):
            key = start + name
            if is_folder and (f"{key}/".startswith(prefix) or prefix.startswith(f"{key}/")):
                yield from self._walk(f"{key}/", prefix)
            elif not is_folder and key.startswith(prefix):
                yield key

    def _entries(self, start: str) -> Sequence[tuple[str, bool]]:
        """What is in a folder, in the order of whole keys: `a-b` comes before what is in `a/`."""
        try:
            with (
                explained("list", self.url),
                self._folder_of(f"{start}x") as (folder, _),
                os.scandir(folder) as found,
            ):
                entries = [
                    (entry.name, entry.is_dir(follow_symlinks=False)) for entry in found if _is_ours(entry)
                ]
        except StoreMissing:
            return []
        return sorted(entries, key=lambda entry: os.fsencode(entry[0] + "/" * entry[1]))


def _is_ours(entry: os.DirEntry[str]) -> bool:
    regular = entry.is_file(follow_symlinks=False) and not entry.name.startswith(TEMPORARY)
    return regular or entry.is_dir(follow_symlinks=False)


def _replace(folder: int, part: str, name: str) -> bool:
    os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)
    return True


def _link(folder: int, part: str, name: str) -> bool:
    """A hard link fails where the name is taken, so of two writers one wins, whole."""
    try:
        os.link(part, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
    except FileExistsError:
        if stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            return False
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR)) from None
    return True
