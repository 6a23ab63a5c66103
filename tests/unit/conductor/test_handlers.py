"""The registry of handlers: ours by name, strangers' by entry point, and nothing by accident."""

from datetime import UTC, datetime
from importlib.metadata import EntryPoint, EntryPoints
from types import SimpleNamespace
from uuid import uuid4

import pytest

from conductor import handler_types as handlers
from conductor.session.arrays import Ints, Uuids
from switchyard.backends.noop.handler import NoopHandler
from switchyard.config.config import Config
from switchyard.errors import ConfigError
from switchyard.handlers import Batch, BatchHandler, HandlerContext, Success, Work
from switchyard.store import open_store

CONTEXT = HandlerContext(config=Config(), store=open_store("file:///nowhere"), secrets={})


def registered(monkeypatch: pytest.MonkeyPatch, kind: str, value: str) -> None:
    entry = EntryPoint(name=kind, value=value, group=handlers.GROUP)
    monkeypatch.setattr(handlers, "entry_points", lambda **wanted: EntryPoints([entry]).select(**wanted))


async def test_noop_answers_for_one_and_for_many() -> None:
    handler = handlers.build("drill", SimpleNamespace(type="noop"), CONTEXT)
    assert isinstance(handler, BatchHandler)
    await handler.start()
    batch = Batch("drill", Uuids.of([uuid4()]), Ints.of([1]), Ints.of([1]))
    assert len(batch) == 1
    assert handler.dispatch_all(batch) == Success()
    work = Work(uuid4(), 1, 1, False, "drill", None, None, None, {}, None, datetime.now(UTC))
    assert await handler.dispatch(work) == Success()
    await handler.close()


def test_a_third_party_registers_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    registered(monkeypatch, "theirs", "switchyard.backends.noop.handler:NoopHandler")
    assert isinstance(handlers.build("x", SimpleNamespace(type="theirs"), CONTEXT), NoopHandler)


def test_ours_cannot_be_displaced(monkeypatch: pytest.MonkeyPatch) -> None:
    registered(monkeypatch, "noop", "builtins:dict")
    assert handlers.factory("noop") is NoopHandler


def test_an_unknown_type_says_what_is_missing() -> None:
    with pytest.raises(ConfigError, match="'teleport'"):
        handlers.factory("teleport")


def test_what_is_no_handler_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    registered(monkeypatch, "odd", "types:SimpleNamespace")
    monkeypatch.setattr(handlers, "factory", lambda kind: lambda *parts: object())
    with pytest.raises(ConfigError, match="is no handler"):
        handlers.build("x", SimpleNamespace(type="odd"), CONTEXT)
