"""jsonb as the server sends it: a document that Postgres wrote has no white space around it and is in UTF-8.

A claim reads it as bytes and decodes it per action, so that what Python cannot decode (nested too deeply, a
number of too many digits, too large) costs that action alone. `json.loads` looks for white space and encoding
each time; after a rest of 20 ms, when caches are cold, that alone took 40 us.
"""

import json
from typing import Any

from psycopg import adapt, pq
from psycopg.abc import AdaptContext, Buffer

OID = 3802
LARGEST = 16 * 2**20  # bytes; decoding more would hold up everybody else in the process
_decode = json.JSONDecoder().raw_decode


class _Loader(adapt.Loader):
    format = pq.Format.BINARY

    def load(self, data: Buffer) -> bytes:
        return bytes(data[1:])  # the first byte is the version of the form


def decoded(document: bytes) -> Any:
    """The decoded document; raises ValueError or RecursionError if Python cannot represent it."""
    if len(document) > LARGEST:
        raise ValueError(f"{len(document):,} bytes are more than {LARGEST:,}")
    value, _ = _decode(str(document, "utf-8"))
    return value


def register(context: AdaptContext) -> None:
    """Make this connection return jsonb as bytes."""
    context.adapters.register_loader(OID, _Loader)
