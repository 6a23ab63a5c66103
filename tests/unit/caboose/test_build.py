"""The sources that a configuration asks for."""

from pathlib import Path
from typing import Any

import pytest

from caboose.served import Served, build
from switchyard.backends.argo.source import ArgoSource
from switchyard.config.config import Config
from switchyard.errors import ConfigError
from switchyard.execution import Shard
from switchyard.store import open_store

ARGO = {"type": "argo", "namespace": "one", "reconcile": "20s", "vanished_after": "40s"}


def served(folder: Path, actions: dict[str, Any], *kinds: str, shard: str = "0/1") -> list[Served]:
    config = Config.model_validate({"actions": actions})
    return build(config, kinds, Shard.parse(shard), open_store(folder.as_uri()))


def test_a_kind_that_is_not_configured_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="the configuration has no action of type argo or sqs"):
        served(tmp_path, {"run": {"type": "local", "command": "true"}}, "argo", "sqs")
    assert served(tmp_path, {"hook": {"type": "noop"}}) == []


@pytest.mark.parametrize(("shard", "lease"), [("0/1", "switchyard-caboose"), ("1/2", "switchyard-caboose-1")])
async def test_argo_has_one_source_a_namespace_and_one_lease_a_share(
    tmp_path: Path, shard: str, lease: str
) -> None:
    actions = {"a": ARGO, "b": ARGO, "c": {**ARGO, "namespace": "two"}}
    one, two = served(tmp_path, actions, shard=shard)
    assert (one.names, two.names) == (("a", "b"), ("c",))
    assert (one.every, one.grace) == (20.0, 40.0)
    assert isinstance(one.source, ArgoSource)
    assert one.source._lease is not None
    assert one.source._lease._name == lease
