"""`switchyard show` tells what was sent and what came back, and survives a store that has lost it."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

from switchyard.cli.exchanges import MOST, exchange_texts, exchanges_of
from switchyard.store import open_store
from switchyard.transcript import transcript_key

UUID_7 = UUID("01890000-0000-7000-8000-000000000001")
RECORD = {
    "version": 1, "run": 1, "attempt": 2, "seconds": 0.0123, "error": "answered 500 No: \x1b[2Joops",
    "request": {"method": "POST", "url": "https://a.example/?t=…", "headers": {"authorization": "[redacted]"},
                "body": "x" * 900, "bytes": 900},
    "response": {"status": 500, "reason": "No", "headers": {"server": "s"}, "body": None},
}  # fmt: skip


def event(line: int | None, key: str | None = None) -> dict[str, Any]:
    place = {"key": key or transcript_key(UUID_7, 1, 2), "line": line}
    return {"detail": None if line is None else {"transcript": place}}


def stored(folder: Path) -> str:
    store = open_store(f"file://{folder}")
    lines = [json.dumps({**RECORD, "attempt": number}).encode() for number in range(9)]
    store.put(transcript_key(UUID_7, 1, 2), b"\n".join(lines))
    return store.url


def test_a_detail_that_points_nowhere_has_no_exchange(tmp_path: Path) -> None:
    for odd in ("text", {"line": 1}, {"key": 5}):
        assert exchanges_of([{"detail": {"transcript": odd}}], stored(tmp_path)) == []


def test_the_line_of_each_event_the_latest_only(tmp_path: Path) -> None:
    found = exchanges_of([event(None), *map(event, range(9))], stored(tmp_path))
    assert [exchange["attempt"] for exchange in found] == list(range(9))[-MOST:]


def test_on_a_terminal(tmp_path: Path) -> None:
    text = "\n".join(str(line) for line in exchange_texts(exchanges_of([event(2)], stored(tmp_path))))
    assert "exchange of run 1, attempt 2, 0.012 s" in text
    assert "→ POST https://a.example/?t=…" in text
    assert "← 500 No" in text
    assert "authorization: [redacted]" in text
    assert "x" * 500 + " …" in text
    assert "\x1b" not in text


def test_what_is_lost_or_broken_is_reported(tmp_path: Path) -> None:
    url = stored(tmp_path)
    lost = exchanges_of(
        [event(0, "callbacks/gone/r1-a1.jsonl"), event(99), event(0, "../../etc/passwd")], url
    )
    assert all("cannot be read" in exchange["error"] for exchange in lost)
    assert len(exchange_texts(lost)) == 9
