"""The S3 store on a real S3 server."""

import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from switchyard.errors import (
    ConfigError,
    StoreBadKey,
    StoreError,
    StoreMissing,
    StoreTooLarge,
    StoreUnavailable,
)
from switchyard.store import Store, locate, open_store
from switchyard.store import s3 as module
from switchyard.store.s3_client import client
from tests.parts.aws import AwsPart
from tests.parts.ports import free_port
from tests.parts.versitygw import VersityGateway
from tests.storing import Promises

MIB = 1 << 20


@pytest.fixture(autouse=True)
def environment(s3: AwsPart, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in s3.environ.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def bucket(s3: AwsPart) -> str:
    return s3.bucket()


@pytest.fixture
def store(bucket: str, request: pytest.FixtureRequest) -> Store:
    """A place of the test's own in the bucket."""
    return open_store(f"s3://{bucket}/{request.node.name.replace('[', '-').replace(']', '')}/deep/")


class TestPromises(Promises):
    """Those of every store."""


def test_odd_keys(store: Store) -> None:
    for key in ("a b", "ü/é", "a+b%2Fc", "q?x=1#y", "a=b&c", "~"):
        store.put(key, key.encode())
        assert store.get(key) == key.encode()
        again, found = locate(store.url_of(key))
        assert again.get(found) == key.encode()
    assert sorted(store.list(""), key=str.encode) == list(store.list(""))
    assert len(list(store.list(""))) == 6


class Dull:
    """The real client, except that the server refuses conditional writes, as some do."""

    def __init__(self) -> None:
        self._real, self.refused = client(), 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def put_object(self, **request: Any) -> Any:
        if "IfNoneMatch" in request:
            self.refused += 1
            raise ClientError({"Error": {"Code": "NotImplemented"}}, "PutObject")
        return self._real.put_object(**request)


def test_without_conditional_writes_it_looks_first(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    dull = Dull()
    monkeypatch.setattr(module, "client", lambda: dull)
    assert store.put("a", b"one", if_absent=True)
    assert not store.put("a", b"two", if_absent=True)
    assert store.get("a") == b"one"
    assert dull.refused == 1, "it asks once"


class Forgetful(Dull):
    """The real client, but the answer to the first write is lost, and botocore repeats it."""

    def put_object(self, **request: Any) -> Any:
        self._real.put_object(**request)
        try:
            return self._real.put_object(**request)
        except ClientError as error:
            error.response["ResponseMetadata"]["RetryAttempts"] = 1
            raise


def test_a_write_whose_answer_was_lost_is_known_as_our_own(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "client", Forgetful)
    assert store.put("a", b"one", if_absent=True)


class Contended(Dull):
    """A server at which somebody else is always writing the same key."""

    def put_object(self, **request: Any) -> Any:
        raise ClientError({"Error": {"Code": "ConditionalRequestConflict"}}, "PutObject")


def test_a_conflict_that_never_ends_is_for_later(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "client", Contended)
    with pytest.raises(StoreUnavailable, match="repeatedly"):
        store.put("a", b"", if_absent=True)


def test_a_large_file_goes_in_parts_and_is_read_piece_by_piece(store: Store, tmp_path: Path) -> None:
    source = tmp_path / "large"
    source.write_bytes(os.urandom(17 * MIB))
    store.put_file("large", source)
    assert store.size("large") == 17 * MIB
    with store.open("large") as file:
        file.seek(16 * MIB)
        assert file.read() == source.read_bytes()[16 * MIB :]
    with pytest.raises(StoreTooLarge, match=f"is {17 * MIB} bytes; at most 100"):
        store.get("large", limit=100)


def test_what_is_not_there(store: Store) -> None:
    assert store.size("no/such") is None
    assert list(store.list("")) == []
    store.delete("no/such")
    with pytest.raises(StoreMissing, match="there is no object s3://"):
        store.get("no/such")
    with pytest.raises(StoreMissing):
        store.open("no/such")


def test_list_and_delete(store: Store) -> None:
    keys = ["a-b", "a/b/c", "a/d", "a0", "b"]
    for key in reversed(keys):
        store.put(key, b"")
    assert list(store.list("")) == keys
    assert list(store.list("a/")) == ["a/b/c", "a/d"]
    assert list(store.list("a/b")) == ["a/b/c"]
    store.delete("a/d")
    assert list(store.list("a/")) == ["a/b/c"]


def test_list_is_lazy_and_goes_over_pages(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(5):
        store.put(f"{number}", b"")
    asked = 0
    paginator = client().get_paginator("list_objects_v2")

    class Small:
        def get_paginator(self, _name: str) -> Any:
            return self

        def paginate(self, **request: Any) -> Iterator[Any]:
            nonlocal asked
            for page in paginator.paginate(**request, PaginationConfig={"PageSize": 2}):
                asked += 1
                yield page

    monkeypatch.setattr(module, "client", Small)
    keys = store.list("")
    assert next(keys) == "0"
    assert asked == 1
    assert list(keys) == ["1", "2", "3", "4"]
    assert asked == 3


def test_bad_keys_never_leave_the_prefix(store: Store) -> None:
    for key in ("../a", "/a", "a/../../b", ""):
        with pytest.raises(StoreBadKey):
            store.put(key, b"")
    with pytest.raises(StoreBadKey):
        open_store("s3://bucket/../x")


def test_a_missing_bucket(store: Store) -> None:
    away = open_store("s3://switchyard-no-such-bucket/x")
    with pytest.raises(StoreError, match="no such bucket") as caught:
        away.put("a", b"")
    assert not caught.value.transient
    with pytest.raises(StoreError, match="no such bucket"):
        list(away.list(""))


def test_wrong_credentials(s3: AwsPart, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    if not isinstance(s3, VersityGateway):
        pytest.skip("moto lets everybody in")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-the-secret")
    with pytest.raises(StoreError, match="the secret key is wrong") as caught:
        store.put("a", b"")
    assert not caught.value.transient
    assert "not-the-secret" not in str(caught.value)


def test_no_credentials(store: Store, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(StoreError, match="no credentials"):
        store.put("a", b"")


def test_a_server_that_is_away_is_transient(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://127.0.0.1:{free_port()}")
    with pytest.raises(StoreUnavailable, match="does not answer") as caught:
        store.size("a")
    assert caught.value.transient


class Breaking(BaseHTTPRequestHandler):
    """No real server breaks off on request: promises ten bytes and gives three, as often as it is told to."""

    left = 0

    def do_GET(self) -> None:
        whole = type(self).left <= 0
        type(self).left -= 1
        self.send_response(200)
        self.send_header("Content-Length", "10")
        self.end_headers()
        self.wfile.write(b"0123456789" if whole else b"012")

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.mark.parametrize(("breaks", "works"), [(2, True), (3, False)])
def test_a_read_that_breaks_off_is_started_again(
    store: Store, monkeypatch: pytest.MonkeyPatch, breaks: int, works: bool
) -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), Breaking) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("AWS_ENDPOINT_URL_S3", f"http://127.0.0.1:{server.server_port}")
        monkeypatch.setattr(Breaking, "left", breaks)
        if works:
            assert store.get("a") == b"0123456789"
        else:
            with pytest.raises(StoreUnavailable, match="does not answer"):
                store.get("a")
        server.shutdown()


def test_a_wrong_endpoint_is_a_configuration_error(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", "not a url")
    with pytest.raises(ConfigError, match="s3 client cannot be set up"):
        store.size("a")


def test_many_threads_share_a_store(store: Store) -> None:
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(5):
                store.put(f"t/{number}/{turn}", b"%d" % number)
                assert store.get(f"t/{number}/{turn}") == b"%d" % number
        except BaseException as error:  # noqa: BLE001 - told to the main thread
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(list(store.list("t/"))) == 40
