"""What a handler sent and received, stored in the object store.

An event's detail holds `"transcript": {"key": …, "line": n}`. The object is JSON lines: under load one object
holds the transcripts of many deliveries, and lies under the first one's action (docs/adr/0071).
"""

import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from switchyard.errors import StoreError
from switchyard.store import Store

FIELD = "transcript"
LARGEST = 32 * 2**20


def transcript_key(uuid: UUID, run: int, attempt: int) -> str:
    """Where the transcripts lie that begin with this attempt's."""
    return f"callbacks/{uuid}/r{run}-a{attempt}.jsonl"


def read_transcript(store: Store, detail: Mapping[str, Any]) -> Any:
    """The transcript that an event's detail points to; None where it points to none. May raise StoreError."""
    place = detail.get(FIELD)
    if not isinstance(place, Mapping) or not isinstance(place.get("key"), str):
        return None
    lines = store.get(place["key"], LARGEST).split(b"\n")
    try:
        return json.loads(lines[int(place.get("line", 0))])
    except (IndexError, ValueError, TypeError):
        raise StoreError(f"{store.url_of(place['key'])} holds no such transcript") from None
