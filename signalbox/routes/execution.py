"""Executing a process: inputs are checked, and a job is submitted on behalf of the caller."""

import json
from dataclasses import replace
from typing import Any
from uuid import UUID

import psycopg
from starlette.responses import Response

from signalbox.access.roles import Role
from signalbox.body import is_form
from signalbox.callbacks import callbacks_of
from signalbox.endpoint import Call, Later, post
from signalbox.pointer import pointer
from signalbox.problem import HttpProblem
from signalbox.records.execution import Execute
from signalbox.records.jobs import Job
from signalbox.routes.jobs import job_of
from signalbox.routes.processes import known, outputs_of
from signalbox.routes.results import results
from signalbox.sync import has_ended, seconds_to_wait
from switchyard.errors import DatabaseUnavailable, EvaluationFailed, LimitExceeded
from switchyard.ledger.jsonb import examine
from switchyard.ledger.queries import query as named
from switchyard.process import evaluate
from switchyard.process.shared_pool import shared_pool

QUALIFIED = frozenset({"value", "mediaType", "encoding", "schema"})
LONGEST_KEY = 255
ANNOUNCED_MEANWHILE = 5
PROCESS = named("signalbox", "process")


@post("/processes/{process}/execution", Role.SUBMITTER, success=201, after="/jobs/{answer.jobID}", alone=True)
async def execute(call: Call, process: str, body: Execute) -> Job | Response:
    """Submit a job. The same Idempotency-Key with the same request finds the first job."""
    inputs = {name: _value(given) for name, given in body.inputs.items()}
    outputs = None if body.outputs is None else {k: v.model_dump() for k, v in body.outputs.items()}
    values = {
        "process": process,
        "inputs": _text(inputs),
        "idempotency_key": _key(call),
        "callbacks": callbacks_of(call, body),
        "outputs": None if outputs is None else json.dumps(outputs),
        "response": body.response,
        **body.switchyard.model_dump(exclude={"callbacks"}),
    }
    row, about = await _submitted(call, process, body, inputs, values)
    prefer = call.request.headers.get("prefer", "").lower()
    seconds = 0.0 if is_form(call.request) else seconds_to_wait(prefer, about.get("sync"))
    job = UUID(row["job_id"])
    if seconds and await has_ended(call.site, call.caller, job, seconds):
        return await _results(call, job)
    call.headers["Location"] = call.href(f"/jobs/{job}")
    if "respond-async" in prefer:
        call.headers["Preference-Applied"] = "respond-async"
    return job_of(call, row)


async def _results(call: Call, job: UUID) -> Response:
    """The answer of `GET /jobs/{job}/results`."""
    async with call.site.database.transaction(call.caller) as connection:
        begun = await results(replace(call, session=connection), job)
    answer = await begun.run() if isinstance(begun, Later) else begun
    assert isinstance(answer, Response)
    answer.headers.append("Link", f'<{call.href(f"/jobs/{job}")}>; rel="monitor"')
    return answer


async def _submitted(
    call: Call, process: str, body: Execute, inputs: dict[str, Any], values: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The row of the job, and its process; the process is read again if it was announced in between."""
    announced = call.site.announced
    for _ in range(ANNOUNCED_MEANWHILE):
        known = announced.get(process) or await _read(call, process)
        about: dict[str, Any] = known["about"] or {}
        _check_outputs(body, outputs_of(known))
        await _check_inputs(process, about.get("input"), inputs)
        try:
            row = await call.site.submissions.submit(call.caller, {**values, "version": known["version"]})
        except (psycopg.errors.SerializationFailure, psycopg.errors.NoDataFound):
            announced.pop(process, None)
        else:
            announced[process] = known
            return row["job"], about
    raise DatabaseUnavailable(f"process {process} is announced repeatedly")


async def _read(call: Call, process: str) -> dict[str, Any]:
    async with call.site.database.transaction(call.caller) as connection:
        row = await (await connection.execute(PROCESS, {"process": process})).fetchone()
    return known(row, process)


def _value(given: Any) -> Any:
    """`{"value": …}` is unwrapped; a link is passed to the workflow unchanged, and is never fetched here."""
    if isinstance(given, list):
        return [_unqualified(each) for each in given]
    return _unqualified(given)


def _unqualified(given: Any) -> Any:
    if isinstance(given, dict) and "value" in given and given.keys() <= QUALIFIED:
        return given["value"]
    return given


def _text(inputs: dict[str, Any]) -> str:
    """The inputs as JSON, within the limits of depth, size and numbers of all submissions."""
    text, problems = examine(inputs, "inputs")
    if problems:
        errors = [{"pointer": pointer(each.path), "detail": each.message} for each in problems]
        raise HttpProblem(422, "; ".join(str(each) for each in problems[:3]), errors=errors)
    return text


def _key(call: Call) -> str | None:
    """The key in the caller's own namespace: no caller can find another caller's job by guessing its key."""
    given = call.request.headers.get("idempotency-key")
    if given is None:
        return None
    if not 0 < len(given) <= LONGEST_KEY or not given.isprintable():
        raise HttpProblem(400, f"Idempotency-Key: must have 1 to {LONGEST_KEY} printable characters")
    return f"{call.caller.name} {given}"


async def _check_inputs(process: str, schema: Any, inputs: dict[str, Any]) -> None:
    if schema is None:
        return
    try:
        found = await shared_pool().run(evaluate.schema_problems, json.dumps(schema), inputs, group=process)
    except (LimitExceeded, EvaluationFailed) as error:
        raise HttpProblem(422, f"inputs: they cannot be checked: {error}") from None
    if found:
        errors = [{"pointer": pointer(("inputs", *path)), "detail": text} for path, text in found]
        detail = "; ".join(f"{each['pointer']}: {each['detail']}" for each in errors[:3])
        raise HttpProblem(422, detail, errors=errors)


def _check_outputs(body: Execute, known_outputs: dict[str, Any]) -> None:
    for name in body.outputs or {}:
        if name not in known_outputs:
            where = pointer(("outputs", name))
            raise HttpProblem(
                422, f"{where}: there is no such output", errors=[{"pointer": where, "detail": "is unknown"}]
            )
