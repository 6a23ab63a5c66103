"""Whether a secret that a test used shows in anything that was made during it.

After every test that resolved a secret (all go through `register_secret`), what it left is searched: its output and
log, the files under its folder (the object store, the logs of spawned programs), the ledger, and the metrics. A
file that holds a secret and nothing else is where it came from.
"""

import base64
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from prometheus_client import generate_latest
from psycopg import sql

from switchyard.process import redact
from tests.parts.database import Database

SHORTEST = 8  # shorter ones are words that occur anyway
LARGEST_FILE = 8 * 2**20
_TABLES = ("event", "thread", "worker", "paused")


def spellings(secret: str) -> set[str]:
    """How a secret shows in text."""
    raw = base64.b64encode(secret.encode(errors="replace")).decode().rstrip("=")
    in_json = {json.dumps(secret, ensure_ascii=ascii_only)[1:-1] for ascii_only in (True, False)}
    return {secret, quote(secret, safe="", errors="replace"), raw, *in_json}


def leak(secrets: Iterable[str], texts: Iterable[tuple[str, str]]) -> str | None:
    """Where the first of them shows; never the secret itself."""
    known = {secret.strip() for secret in secrets if len(secret) >= SHORTEST}
    forms = {form for secret in known for form in spellings(secret)}
    for where, text in texts:
        for form in () if text.strip() in known else forms:
            if form in text:
                at = text.index(form)
                return f"a secret shows in {where}: …{text[max(0, at - 60) : at]}<here>"
    return None


def files(folder: Path) -> Iterator[tuple[str, str]]:
    """Everything under a folder that is not too large to be read."""
    for path in sorted(folder.rglob("*")):
        if "spool" in path.parts and path.name in ("stdout", "stderr"):
            continue  # what a process that was given the secret prints is its own
        if path.is_file() and path.stat().st_size <= LARGEST_FILE:
            yield str(path), path.read_text("utf-8", "replace")


def ledger(database: Database) -> Iterator[tuple[str, str]]:
    """What the ledger says of what was done; the parameters are the submitter's own words."""
    with database.connect() as connection:
        for table in _TABLES:
            if connection.execute("select to_regclass(%s)", [f"switchyard.{table}"]).fetchone() != (None,):
                told = sql.SQL("select to_jsonb(t)::text from switchyard.{} t").format(sql.Identifier(table))
                rows = connection.execute(told).fetchall()
                yield f"switchyard.{table}", "\n".join(row[0] for row in rows)


def check(item: pytest.Item, report: pytest.TestReport) -> None:
    """Fail the test that left a secret anywhere."""
    # The tests' databases have no password, so their addresses are secret in form alone.
    secrets = [known for known in redact._known if not known.startswith("postgresql://")]
    if not secrets or report.when != "call":
        return
    found = leak(secrets, _left_by(item, report))
    if found is not None:
        report.outcome, report.longrepr = "failed", found


def _left_by(item: pytest.Item, report: pytest.TestReport) -> Iterator[tuple[str, str]]:
    yield from ((name, text) for name, text in report.sections if name.startswith("Captured"))
    used: dict[str, Any] = getattr(item, "funcargs", {})
    if isinstance(folder := used.get("tmp_path"), Path):
        yield from files(folder)
    if isinstance(database := used.get("database"), Database):
        yield from ledger(database)
    for name, value in used.items():
        registry = getattr(getattr(value, "metrics", None), "registry", None)
        if registry is not None:
            yield f"the metrics of {name}", generate_latest(registry).decode()
