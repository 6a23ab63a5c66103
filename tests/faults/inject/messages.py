"""Status messages of every bad kind: each is set aside and reported once, and the queue behind it goes on."""

import json
from typing import Any
from uuid import UUID, uuid4

import psycopg

from tests.faults.inject.neighbours import MARK, insert
from tests.faults.inject.strike import Heal, Missed, over
from tests.faults.plan import Fault
from tests.faults.yard import Yard

CONDUCTOR = "select worker_id from switchyard.worker where kind = 'conductor' and ended_at is null and lost_at is null limit 1"
NO_ACTION = UUID("01900000-0000-7000-8000-000000000001")  # of a time before there was this ledger


def poison(yard: Yard, fault: Fault) -> Heal:
    """One message of each kind, among those of the workers."""
    assert yard.jobs is not None
    [drill] = insert(yard, "drill", 1)
    try:
        rows = yard.database.execute(CONDUCTOR)
    except psycopg.OperationalError:
        raise Missed from None
    for body in bodies(drill, rows[0][0] if rows else uuid4()):
        yard.jobs.sqs.send_message(
            QueueUrl=yard.jobs.queues[fault.target],
            MessageBody=body,
            MessageAttributes={"CorrelationId": {"DataType": "String", "StringValue": MARK}},
        )
    return over


def bodies(drill: UUID, conductor: UUID) -> list[str]:
    """`drill`: an action that no status queue has to do with; `conductor`: a worker that does not run jobs."""
    report = {"version": 1, "action_uuid": str(NO_ACTION), "run": 1, "status": "SUCCESSFUL"}
    beat = {"event": "beat", "worker": MARK, "kind": "assessment"}
    odd: list[Any] = [
        [], None, 5, "text", {}, {"version": 2}, {"version": 1},
        report, {**report, "status": "RUNNING"}, {**report, "action_uuid": str(uuid4())},
        {**report, "action_uuid": "no uuid"}, {**report, "action_uuid": {"a": 1}}, {**report, "run": 2**40},
        {**report, "run": -1}, {**report, "run": True}, {**report, "status": "NONSENSE"}, {**report, "status": ["x"]},
        {**report, "error": "\0 \ud800 \x1b[31m"}, {**report, "output": "../../../etc/passwd"},
        {**report, "action_uuid": str(drill)}, {**report, "action_uuid": str(drill), "run": 7},
        {**report, "action_uuid": str(drill), "status": "RUNNING", "progress": 1e308, "step": ["x"] * 1000},
        {"event": "ended", "worker": str(conductor)}, {"event": "beat"}, {**beat, "event": "explode"},
        {**beat, "done": -1}, {**beat, "rate": "fast"}, {**beat, "worker": "w" * 5000, "event": "ended"},
    ]  # fmt: skip
    written = [
        "not JSON", "{", "NaN", '{"version": Infinity}', '{"version": 1' + "0" * 5000 + "}", "[" * 50_000,
        '{"a": ' + "[" * 2000 + "]" * 2000 + "}", json.dumps({**report, "error": "x" * 200_000}),
    ]  # fmt: skip
    return [*map(json.dumps, odd), *written]
