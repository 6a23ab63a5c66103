"""Types by entry point: ours first, foreign ones beside them; handlers and sources made from them."""

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest

from switchyard.backends import plugin, registry
from switchyard.backends.argo.source import ArgoSource
from switchyard.backends.noop.handler import NoopHandler
from switchyard.backends.registry import build_handler, build_sources
from switchyard.config.config import Config
from switchyard.errors import ConfigError
from switchyard.execution import Shard
from switchyard.handlers import Batch, BatchHandler, HandlerContext, Success, Work
from switchyard.sources import ServedSource
from switchyard.store import open_store

CONTEXT = HandlerContext(config=Config(), store=open_store("file:///nowhere"), secrets={})
ARGO = {"type": "argo", "namespace": "one", "reconcile": "20s", "vanished_after": "40s"}


def _fails(*_: Any) -> Any:
    raise KeyError("a foreign mistake")


theirs = plugin.Backend("theirs", NoopHandler)
odd = plugin.Backend("odd", lambda *_: object())  # type: ignore[arg-type]
failing = plugin.Backend("failing", _fails, sources=_fails)


@pytest.fixture(autouse=True)
def _installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    points = [
        EntryPoint(name, f"{__name__}:{name}", registry.GROUP) for name in ("theirs", "odd", "failing")
    ] + [EntryPoint("noop", f"{__name__}:odd", registry.GROUP)]
    monkeypatch.setattr(registry, "entry_points", lambda **wanted: EntryPoints(points).select(**wanted))
    registry.foreign.cache_clear()
    yield
    registry.foreign.cache_clear()


def handler(kind: str) -> Any:
    return build_handler("drill", SimpleNamespace(type=kind), CONTEXT)


def sources(folder: Path, actions: dict[str, Any], *types: str, shard: str = "0/1") -> list[ServedSource]:
    config = Config.model_validate({"actions": actions})
    return build_sources(config, types, Shard.parse(shard), open_store(folder.as_uri()))


async def test_noop_answers_for_one_and_for_many() -> None:
    noop = handler("noop")
    assert isinstance(noop, BatchHandler)
    await noop.start()
    batch = Batch("drill", [uuid4()], [1], [1])
    assert len(batch) == 1
    assert noop.dispatch_all(batch) == Success()
    work = Work(uuid4(), 1, 1, False, "drill", None, None, None, {}, None, datetime.now(UTC))
    assert await noop.dispatch(work) == Success()
    await noop.close()


def test_a_third_party_registers_by_entry_point() -> None:
    assert isinstance(handler("theirs"), NoopHandler)


def test_a_built_in_type_cannot_be_displaced() -> None:
    assert isinstance(handler("noop"), NoopHandler)


def test_an_unknown_type_is_named_with_those_there_are() -> None:
    with pytest.raises(
        ConfigError, match=r"there is no type 'teleport'; there are argo, .*stac, failing, odd"
    ):
        handler("teleport")


def test_a_result_that_is_not_a_handler_is_refused() -> None:
    with pytest.raises(ConfigError, match="'odd' made something that is not a Handler"):
        handler("odd")


def test_an_exception_of_a_foreign_factory_names_its_type(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"handler of 'drill' \(type failing\).*a foreign mistake"):
        handler("failing")
    with pytest.raises(ConfigError, match=r"source of type failing cannot be made.*a foreign mistake"):
        sources(tmp_path, {"f": {"type": "failing"}})


def test_a_type_that_is_not_configured_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the configuration has no action of type argo or sqs"):
        sources(tmp_path, {"run": {"type": "local", "command": "true"}}, "argo", "sqs")
    assert sources(tmp_path, {"hook": {"type": "noop"}}) == []


def test_a_type_without_a_source_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="--source http: actions of this type never hand over"):
        sources(tmp_path, {"hook": {"type": "noop"}}, "http")


@pytest.mark.parametrize("shard", ["0/1", "1/2"])
async def test_argo_has_one_source_per_namespace_with_one_observer(tmp_path: Path, shard: str) -> None:
    actions = {"a": ARGO, "b": ARGO, "c": {**ARGO, "namespace": "two"}}
    one, two = sources(tmp_path, actions, shard=shard)
    assert (one.names, two.names) == (("a", "b"), ("c",))
    assert (one.every, one.grace) == (20.0, 40.0)
    assert isinstance(one.source, ArgoSource)
    assert one.source.one_observer


def test_reading_a_configuration_imports_no_client_library() -> None:
    program = (
        "import sys; from switchyard.config.published import json_schema; json_schema();"
        "print([name for name in ('boto3', 'botocore', 'kubernetes', 'aiohttp') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert ran.stdout.strip() == "[]"


def test_every_folder_of_a_backend_is_closed_to_the_programs() -> None:
    """The import contract lists the folders by name; one that is added must be listed too."""
    root = Path(registry.__file__).parent
    folders = {f'"switchyard.backends.{path.parent.name}"' for path in root.glob("*/__init__.py")}
    contracts = (root.parent.parent / "pyproject.toml").read_text()
    assert {folder for folder in folders if folder not in contracts} == set()
