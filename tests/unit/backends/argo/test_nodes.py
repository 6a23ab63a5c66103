"""Nodes of a workflow's status: plain, compressed as Argo compresses them, offloaded, or broken."""

import base64
import gzip
import json
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchyard.backends.argo import nodes as module
from switchyard.backends.argo.nodes import NodesError, nodes_of, pack, packed, unpack

NODES = st.dictionaries(
    st.text(), st.dictionaries(st.text(), st.text() | st.integers(), max_size=5), max_size=5
)


@given(NODES)
def test_packed_nodes_read_back(nodes: dict[str, dict[str, object]]) -> None:
    assert unpack(pack(nodes)) == nodes
    assert json.loads(gzip.decompress(base64.b64decode(pack(nodes)))) == nodes


def test_nodes_are_found_wherever_they_are() -> None:
    nodes = {"a": {"id": "a", "phase": "Failed"}}
    assert nodes_of({"status": {"nodes": nodes}}) == nodes
    assert nodes_of({"status": {"compressedNodes": pack(nodes)}}) == nodes
    assert nodes_of({"status": {}}) == nodes_of({}) == {}
    assert packed({"status": {"compressedNodes": pack(nodes)}})
    assert not packed({"status": {"nodes": nodes}})


@pytest.mark.parametrize(
    "text",
    [
        "%%%",
        base64.b64encode(b"no gzip").decode(),
        base64.b64encode(gzip.compress(b"no json")).decode(),
        base64.b64encode(gzip.compress(b"[]")).decode(),
        base64.b64encode(gzip.compress(b'{"a": {}}')[:-9]).decode(),
        base64.b64encode(gzip.compress(b"[" * 100_000)).decode(),
    ],
    ids=["no base64", "no gzip", "no json", "no object", "cut off", "too deep"],
)
def test_broken_compressed_nodes_are_one_clear_error(text: str) -> None:
    with pytest.raises(NodesError):
        nodes_of({"status": {"compressedNodes": text}})


def test_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "UNPACKED_LIMIT", 1000)
    bomb = zlib.compressobj(wbits=31)
    with pytest.raises(NodesError, match="too large"):
        unpack(base64.b64encode(bomb.compress(b" " * 10_000_000) + bomb.flush()).decode())


def test_offloaded_nodes_are_reported() -> None:
    with pytest.raises(NodesError, match="offloaded"):
        nodes_of({"status": {"offloadNodeStatusVersion": "fnv:123"}})
