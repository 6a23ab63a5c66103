"""A bucket as object store, through boto3; the endpoint and credentials come from the usual AWS_… variables.

Write-once is S3's conditional write (`If-None-Match: *`), which AWS, versitygw, MinIO and Ceph have. A server
that answers 501 to it gets a look and then a plain write, which two writers at the same moment can both pass;
the log says so, once. Reading restarts where the connection breaks midway; botocore retries only the request.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from botocore.exceptions import ClientError

from switchyard.aws.errors import code_of
from switchyard.errors import StoreError, StoreTooLarge, StoreUnavailable
from switchyard.process.log import get_logger
from switchyard.store.key import vet, vet_prefix
from switchyard.store.s3_client import client, transfer
from switchyard.store.s3_errors import explained, is_missing

if TYPE_CHECKING:
    from mypy_boto3_s3.type_defs import GetObjectOutputTypeDef

_READS = 3
_CONFLICTS = 5

log = get_logger(__name__)


class S3Store:
    """Objects in a bucket, below a prefix."""

    def __init__(self, bucket: str, prefix: str) -> None:
        self._bucket = bucket
        self._prefix = f"{vet(prefix)}/" if prefix else ""
        self._conditional = True

    @property
    def url(self) -> str:
        return f"s3://{self._bucket}/{self._prefix}".rstrip("/")

    def url_of(self, key: str) -> str:
        return f"{self.url}/{vet(key)}"

    def put(self, key: str, data: bytes, *, if_absent: bool = False) -> bool:
        with explained("write", self.url_of(key)):
            if if_absent:
                return self._put_once(key, data)
            client().put_object(Bucket=self._bucket, Key=self._name(key), Body=data)
            return True

    def put_file(self, key: str, path: Path) -> None:
        try:
            source = path.open("rb")
        except OSError as error:
            raise StoreError(f"cannot read {path}: {os.strerror(error.errno or 0)}") from error
        with source, explained("write", self.url_of(key)):
            client().upload_fileobj(source, self._bucket, self._name(key), Config=transfer())

    def get(self, key: str, limit: int | None = None) -> bytes:
        for _ in range(_READS - 1):
            with suppress(StoreUnavailable), explained("read", self.url_of(key)):
                return self._read(key, limit)
        with explained("read", self.url_of(key)):
            return self._read(key, limit)

    def open(self, key: str) -> BinaryIO:
        file = cast(BinaryIO, tempfile.TemporaryFile())  # noqa: SIM115 - the caller closes it
        try:
            with explained("read", self.url_of(key)):
                client().download_fileobj(self._bucket, self._name(key), file, Config=transfer())
        except BaseException:
            file.close()
            raise
        file.seek(0)
        return file

    def size(self, key: str) -> int | None:
        with explained("look at", self.url_of(key)):
            try:
                return client().head_object(Bucket=self._bucket, Key=self._name(key))["ContentLength"]
            except ClientError as error:
                if is_missing(error):
                    return None
                raise

    def list(self, prefix: str) -> Iterator[str]:
        # Vetted here, not in the generator: a bad prefix should fail where it is given.
        return self._pages(self._prefix + vet_prefix(prefix))

    def delete(self, key: str) -> None:
        with explained("delete", self.url_of(key)):
            client().delete_object(Bucket=self._bucket, Key=self._name(key))

    def _name(self, key: str) -> str:
        return self._prefix + vet(key)

    def _read(self, key: str, limit: int | None) -> bytes:
        answer: GetObjectOutputTypeDef = client().get_object(Bucket=self._bucket, Key=self._name(key))
        with answer["Body"] as body:
            size = answer["ContentLength"]
            if limit is not None and size > limit:
                raise StoreTooLarge(f"{self.url_of(key)} is {size} bytes; at most {limit} are taken")
            return body.read()

    def _pages(self, prefix: str) -> Iterator[str]:
        pages = iter(client().get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix))
        while True:
            with explained("list", self.url):
                page = next(pages, None)
            if page is None:
                return
            for item in page.get("Contents", ()):
                yield item["Key"].removeprefix(self._prefix)

    def _put_once(self, key: str, data: bytes) -> bool:
        for _ in range(_CONFLICTS):
            if not self._conditional:
                return self._put_after_a_look(key, data)
            try:
                client().put_object(Bucket=self._bucket, Key=self._name(key), Body=data, IfNoneMatch="*")
            except ClientError as error:
                if code_of(error) == "PreconditionFailed":
                    return self._was_ours(key, data, error)
                if code_of(error) == "NotImplemented":
                    log.warning(
                        "the object store has no conditional writes; write-once is not exact", store=self.url
                    )
                    self._conditional = False
                elif code_of(error) != "ConditionalRequestConflict":
                    raise
            else:
                return True
        raise StoreUnavailable(
            f"cannot write {self.url_of(key)}: other writers replaced it at the same moment, repeatedly"
        )

    def _was_ours(self, key: str, data: bytes, error: ClientError) -> bool:
        """A write that went through, but whose answer was lost, meets itself when botocore repeats it."""
        repeated = error.response.get("ResponseMetadata", {}).get("RetryAttempts", 0)
        return bool(repeated) and self._read(key, None) == data

    def _put_after_a_look(self, key: str, data: bytes) -> bool:
        return self.size(key) is None and self.put(key, data)
