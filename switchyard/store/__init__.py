"""The object store: whole objects under keys, in a folder (`file:///…`) or a bucket (`s3://bucket/prefix`).

Objects appear whole or not at all, and are durable when the call returns. Any thread may use a store.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol
from urllib.parse import quote, unquote, urlsplit

from switchyard.errors import ConfigError
from switchyard.store.file import FileStore
from switchyard.store.key import vet


class Store(Protocol):
    """The interface of a store. All calls block; they raise only StoreError and its subclasses."""

    @property
    def url(self) -> str:
        """The store's URL, without a slash at the end."""

    def put(self, key: str, data: bytes, *, if_absent: bool = False) -> bool:
        """Write an object. `if_absent`: of several writers, exactly one gets True; its content remains."""

    def put_file(self, key: str, path: Path) -> None:
        """Write an object from a file of any size."""

    def get(self, key: str, limit: int | None = None) -> bytes:
        """The whole object; raises StoreMissing if there is none, StoreTooLarge above `limit` bytes."""

    def open(self, key: str) -> BinaryIO:
        """The object as a seekable binary file; the caller closes it."""

    def size(self, key: str) -> int | None:
        """Its size in bytes; None if there is no such object."""

    def list(self, prefix: str) -> Iterator[str]:
        """Iterate over the keys with the prefix, in the order of their UTF-8 bytes."""

    def delete(self, key: str) -> None:
        """Delete the object; no error if it does not exist."""

    def url_of(self, key: str) -> str:
        """The object's URL, which `locate` parses."""


def open_store(url: str) -> Store:
    """Open the store at a URL. Nothing is created yet: a folder is created with its first object."""
    scheme, place, path = _parts(url)
    if scheme == "file":
        return FileStore(_folder(url, place, path))
    return _bucket(place, path.strip("/"))


def locate(url: str) -> tuple[Store, str]:
    """The store and key of one object's URL. For a file, the store is its folder."""
    scheme, place, path = _parts(url)
    if scheme == "file":
        file = _folder(url, place, path)
        return FileStore(file.parent), vet(file.name)
    return _bucket(place, ""), vet(path.removeprefix("/"))


def _bucket(name: str, prefix: str) -> Store:
    from switchyard.store.s3 import S3Store  # noqa: PLC0415 - boto3 is half of a cold start, and files need none

    return S3Store(name, prefix)


def _parts(url: str) -> tuple[str, str, str]:
    """Scheme, host or bucket, path. In an s3 URL `?` and `#` are letters like all others."""
    if url.startswith("s3://"):
        bucket, slash, path = url.removeprefix("s3://").partition("/")
        if not bucket:
            raise ConfigError(f"store {url!r} names no bucket: write s3://bucket/prefix")
        return "s3", bucket, slash + path
    parts = urlsplit(url)
    if parts.scheme != "file":
        raise ConfigError(f"store {_shown(url)!r} is neither file:///folder nor s3://bucket/prefix")
    if parts.query or parts.fragment:
        raise ConfigError(f"store {url!r} has a query or a fragment; write ? as %3F and # as %23")
    return "file", parts.netloc, unquote(parts.path)


def _folder(url: str, host: str, path: str) -> Path:
    if host not in ("", "localhost") or not path.startswith("/"):
        raise ConfigError(f"store {url!r} has to be an absolute path after three slashes: file:///folder")
    if "\0" in path or ".." in path.split("/"):
        raise ConfigError(f"store {url!r} must not have '..' or a NUL in its path")
    return Path(path)


def _shown(url: str) -> str:
    """The URL without a password that it may contain."""
    scheme, separator, _rest = url.partition("://")
    return f"{scheme}://…" if separator else quote(url[:80])
