"""What plain SQL can put into the ledger, as odd as the ledger accepts it: every list and page must show it and the rest."""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, LiteralString
from uuid import UUID

import psycopg

from tests.parts.database import Database

DEEP = "[" * 199 + "]" * 199
PARAMETERS = (
    '{"geometry": {"coordinates": [[1e-400, 5]]}}',
    '{"bbox": [1e-400, 1, 2, 3]}',
    '{"bbox": [1e307, -1e307, 1e-300, 3]}',
    '{"coordinates": 5, "bbox": null}',
    '{"coordinates": [[], [[]], [1, 2, "x"]], "bbox": [[1], 2, 3, 4]}',
    '{"": {"": ""}, "$ref": "x", "__proto__": {"a": 1}, "href": "javascript:alert(1)", "type": 5}',
    f'{{"a": {DEEP}, "b": {"9" * 308}}}',
    '{"a": "\\u202e\\u0007\\u001b[31m<script>"}',
)  # fmt: skip
CALLBACKS = ("[]", "[null]", "[[]]", '[{"name": 5}]', '[{"name": "x", "action": 5, "when": "no", "for": {}}]')
DETAILS = (
    "null", "5", '"x"', '[{"note": 1}]', '{"note": {"a": 1}}', '{"note": 5, "reason": {"a": 1}, "message": [], "step": 5}',
    '{"progress": 1e300}', '{"progress": -5}', '{"progress": {"a": 1}}', '{"progress": 1e-16000}',
    '{"transcript": 5}', '{"transcript": "../../etc/passwd"}', '{"transcript": {"key": "x", "offset": -1, "length": 1e300}}',
    '{"archive": 5, "ended": "NOPE"}', '{"archive": {"a": 1}, "output": 5}', '{"steps": [1, null], "nodes": {"a": 5}}',
    '{"nodes": [{"id": 5, "name": null, "phase": {}, "started": "infinity", "finished": 5}]}', '{"status": 1e300, "response": 5}',
    '{"actor": 5, "reason": null, "call_back": 1, "hidden": 5, "dismissed": "x", "resume_from": 5, "refused": "x"}',
)  # fmt: skip
ERRORS = ("", "\n\n", "Traceback\n" * 2000, '"' * 60000, "a." * 30000, "\u202e\x1b[31m", "%s {} {{ x }}")
NAMES = (
    "a/b",
    "..",
    "%",
    "?x=1",
    "#",
    "\n",
    "\u202e",
    "x" * 200,
    "<b>",
    '"',
    "'",
    "\\",
    "{{ 7*7 }}",
    " ",
    "\U0001f600",
)
ABOUT = (
    "5", "[]", '{"title": 5, "version": {"a": 1}, "description": []}', '{"input": "x", "output": {"properties": 5}}', '{"input": true}',
    '{"input": {"properties": {"a": 5, "b": null, "c": {"enum": 5, "title": null}}, "required": 5}}', '{"input": {"required": [[]]}}',
    f'{{"input": {DEEP}}}', f'{{"input": [{DEEP}]}}',
)  # fmt: skip
STATES = ("[]", "5", '{"tokens": "NaN", "breaker_factor": "x"}', '{"tokens": 1e400}', '{"breaker_factor": 1e-400}', '{"in_flight": "x"}',
          '{"tokens": null, "sources": 5, "loops": [], "leads": 5, "shard": []}')  # fmt: skip
TIMES = (
    "infinity",
    "-infinity",
    "0044-03-15 BC",
    "1970-01-01Z",
    "9998-12-31 23:59:59.999999Z",
    "294276-01-01",
)
CRONS = (
    ("x", "UTC"),
    ("0 0 30 2 *", "UTC"),
    ("* * * * *", "Nowhere"),
    ("\n", "\n"),
    ("@reboot", "UTC"),
    ("5-1 * * * *", "../x"),
)

ACTION = (
    "insert into switchyard.action (action_type, action_name, workflow, parameters, callbacks, tags, lane, correlation_id, idempotency_key,"
    " start_after, priority) values ('workflow', %(name)s, %(workflow)s, %(parameters)s, %(callbacks)s, %(tags)s, %(text)s, %(text)s, %(text)s,"
    " %(start)s, %(priority)s) returning action_uuid"
)
USUAL = {"name": "run", "workflow": "plain", "parameters": "{}", "callbacks": None, "tags": None, "text": None, "start": None, "priority": 100}  # fmt: skip
EVENT = (
    "insert into switchyard.event (action_uuid, status, run, attempt, error, detail, event_time, retry_seconds, source)"
    " values (%s, %s::text::switchyard.status, 1, 1, %s, %s, %s, %s, E'x\\n<y>')"
)


class Writer:
    """Writes row by row: what the ledger refuses is not its readers' problem."""

    def __init__(self, connection: psycopg.Connection[Any]) -> None:
        self._connection = connection

    def write(self, statement: LiteralString, *values: Any, **named: Any) -> list[Any]:
        with suppress(psycopg.DataError, psycopg.IntegrityError, psycopg.errors.RaiseException):
            cursor = self._connection.execute(statement, named or values)
            return cursor.fetchall() if cursor.description else []
        return []

    def actions(self, rows: Iterable[dict[str, Any]]) -> Iterator[UUID]:
        for row in rows:
            for (uuid,) in self.write(ACTION, **{**USUAL, **row}):
                yield uuid

    def events(self) -> Iterator[UUID]:
        """Each detail with a state that is open and one that has ended; each error."""
        steps = [
            (status, "e\x1b[31m\n<x>", detail)
            for detail in DETAILS
            for status in ("RUNNING", "BACKOFF", "FAILED")
        ]
        for status, error, detail in [*steps, *(("FAILED", error, None) for error in ERRORS)]:
            for uuid in self.actions([{}]):
                late = "9997-12-31Z" if status == "BACKOFF" else "1970-01-01Z"
                self.write(EVENT, uuid, "INFO", error, detail, late, None)
                self.write(
                    EVENT, uuid, status, error, detail, late, 31536000 if status == "BACKOFF" else None
                )
                yield uuid


def write_odd_rows(database: Database) -> list[UUID]:
    """One odd thing at a time, in every table that a program or a person writes to; the ids of the actions."""
    odd: list[dict[str, Any]] = [
        *({"parameters": each} for each in PARAMETERS), *({"callbacks": each} for each in CALLBACKS), *({"start": each} for each in TIMES),
        *({"name": each, "workflow": each} for each in NAMES), *({"text": each, "tags": [each]} for each in NAMES),
        {"priority": -32768}, {"priority": 32767}, {"tags": []}, {"tags": [None]},
    ]  # fmt: skip
    with database.connect() as connection:
        writer = Writer(connection)
        for number, about in enumerate(ABOUT):
            writer.write("insert into switchyard.route values (%s, 'run', %s)", f"about{number}", about)
        uuids = [*writer.actions(odd), *writer.events()]
        for name in NAMES:
            writer.write("select switchyard.pause(%s, %s, %s)", name, name, name)
            writer.write("insert into switchyard.route values (%s, %s, '{}')", f"w{name}", name)
            writer.write("insert into switchyard.journal (kind, subject, actor, reason, needs_review) values (%s, %s, %s, %s, true)",
                         name, name, name, name)  # fmt: skip
        _programs(writer)
        _schedules(writer)
    return uuids


def _programs(writer: Writer) -> None:
    for detail in DETAILS:
        writer.write(
            "insert into switchyard.journal (kind, subject, reason, detail, needs_review) values ('x', 'x', 'x', %s, true)",
            detail,
        )
    for state in STATES:
        writer.write(
            "insert into switchyard.worker (kind, action_name, host, state) values ('conductor', 'plain', E'h\\n<b>', %s)",
            state,
        )
    for rate in ("NaN", "Infinity", "-1", "1e308"):
        writer.write(
            "insert into switchyard.worker (kind, action_name, host, rate) values ('assessment', 'plain', 'h', %s)",
            rate,
        )
        writer.write(
            "insert into switchyard.activity values (now(), 'plain', gen_random_uuid(), 2147483647, 1, %s)",
            rate,
        )
    for time in TIMES:
        writer.write("insert into switchyard.worker (kind, host, beat_at) values ('caboose', 'h', %s)", time)
        writer.write("insert into switchyard.worker (kind, host, lost_at) values ('caboose', 'h', %s)", time)
        writer.write("insert into switchyard.activity values (%s, 'plain', gen_random_uuid(), 1, 1, 1)", time)


def _schedules(writer: Writer) -> None:
    for number, (cron, zone) in enumerate(CRONS):
        definition = {"action_name": "plain", "cron": cron, "timezone": zone, "parameters": {}, "priority": 5, "overlap": "skip",
                      "catch_up": "all", "catch_up_window": 3155760000, "jitter": 0}  # fmt: skip
        writer.write(
            "select switchyard.apply_schedule(%s, %s, now() + interval '1 hour', 0, 'x')",
            f"cron{number}",
            json.dumps(definition),
        )
        del definition["cron"]
        definition |= {"every": 3155760000}
        writer.write(
            "select switchyard.apply_schedule(%s, %s, '9997-12-31Z', 0, 'x')",
            f"every{number}",
            json.dumps(definition),
        )
