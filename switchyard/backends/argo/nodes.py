"""The nodes of a workflow's status, packed or not.

A workflow that grows past Argo's limit (1 MiB) keeps its nodes as base64(gzip(json)) in
`status.compressedNodes`; one past etcd's limit keeps them in Argo's own database, out of our reach.
"""

import base64
import binascii
import gzip
import json
import zlib
from collections.abc import Mapping
from typing import Any

Node = Mapping[str, Any]
Nodes = dict[str, dict[str, Any]]

UNPACKED_LIMIT = 16 * 1024 * 1024  # of JSON, which takes some thirty times that in memory


class NodesError(ValueError):
    """The nodes exist but cannot be read: offloaded, or not valid base64(gzip(json))."""


def nodes_of(workflow: Mapping[str, Any]) -> Nodes:
    """All nodes by id; empty where the controller has made none yet."""
    status = workflow.get("status") or {}
    nodes = status.get("nodes")
    if nodes:
        return dict(nodes)
    if status.get("compressedNodes"):
        return unpack(status["compressedNodes"])
    if status.get("offloadNodeStatusVersion"):
        raise NodesError("the node status is offloaded to Argo's own database")
    return {}


def packed(workflow: Mapping[str, Any]) -> bool:
    """Whether the nodes are stored compressed."""
    status = workflow.get("status") or {}
    return not status.get("nodes") and bool(status.get("compressedNodes"))


def unpack(text: str) -> Nodes:
    """The nodes of `status.compressedNodes`, in bounded memory."""
    try:
        unpacker = zlib.decompressobj(wbits=31)
        content = unpacker.decompress(base64.b64decode(text, validate=True), UNPACKED_LIMIT)
        if not unpacker.eof:
            raise NodesError("the compressed nodes are cut short, or too large")
        nodes = json.loads(content)
    except (binascii.Error, zlib.error, ValueError, RecursionError) as error:
        raise NodesError(f"the compressed nodes cannot be read: {error}") from error
    if not isinstance(nodes, dict):
        raise NodesError("the compressed nodes are not a mapping")
    return nodes


def pack(nodes: Nodes) -> str:
    """What Argo itself would write into `status.compressedNodes`."""
    return base64.b64encode(gzip.compress(json.dumps(nodes).encode())).decode()
