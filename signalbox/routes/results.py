"""Results of a job: all outputs, one of them, its features, and the files it wrote."""

import asyncio
import json
import secrets
from collections.abc import Iterable
from functools import partial
from typing import Any
from urllib.parse import quote
from uuid import UUID

from starlette.responses import JSONResponse, Response

from signalbox import files
from signalbox.access.roles import Role
from signalbox.endpoint import Call, Later, get
from signalbox.negotiate import wants_json
from signalbox.problem import OGC, HttpProblem, not_found
from signalbox.records.jobs import File, FileList
from signalbox.routes.jobs import known_job
from signalbox.routes.processes import WHOLE, outputs_of
from switchyard.errors import StoreMissing
from switchyard.ledger.queries import query as named
from switchyard.places import Places
from switchyard.store import Store

BOTH = (Role.READER, Role.SUBMITTER)
LARGEST = 64 * 1024 * 1024
GEOJSON = ("Feature", "FeatureCollection")
FAILED = {"INVALID": (400, "InvalidParameterValue")}
FAILED_OTHERWISE = (422, "job-results-failed")


@get("/jobs/{job}/results", *BOTH, media="application/json")
async def results(call: Call, job: UUID) -> Response | Later:
    """The results of a successful job, as its request asked for them."""
    row = await _successful(call, job)
    known = await _outputs(call, row)
    return Later(partial(_results, call, row, known))


@get("/jobs/{job}/results/{output}", *BOTH, media="application/json")
async def result(call: Call, job: UUID, output: str) -> Response | Later:
    """One output of a successful job."""
    row = await _successful(call, job)
    if output not in await _outputs(call, row):
        raise not_found(f"the process has no output {output[:200]!r}")

    async def answer() -> Response:
        return _raw(_picked(await read_output(call.site.store, row), output))

    return Later(answer)


@get("/jobs/{job}/features", *BOTH, media="application/geo+json")
async def features(call: Call, job: UUID) -> Response | Later:
    """The features of a successful job's output as GeoJSON, for a map."""
    row = await _successful(call, job)

    async def answer() -> Response:
        found = (await read_output(call.site.store, row)).get("features")
        collection = {"type": "FeatureCollection", "features": found if isinstance(found, list) else []}
        return JSONResponse(collection, media_type="application/geo+json")

    return Later(answer)


@get("/jobs/{job}/files", *BOTH)
async def job_files(call: Call, job: UUID) -> FileList | Later:
    """The files that a job wrote; none before its end."""
    row = await known_job(call, job)

    async def answer() -> FileList:
        if row["job_status"] != "successful":
            return FileList(files=[])
        listed = _listed(await read_output(call.site.store, row))
        return FileList(files=[
            File(name=name, href=call.href(f"/jobs/{job}/files/{quote(name, safe='/')}"), sha256=digest)
            for name, (_, digest) in listed.items()
        ])  # fmt: skip

    return Later(answer)


@get("/jobs/{job}/files/{name:path}", *BOTH, media="application/octet-stream")
async def job_file(call: Call, job: UUID, name: str) -> Response | Later:
    """One file that a job wrote, whole or a range of it."""
    row = await _successful(call, job)

    async def answer() -> Response:
        found = _listed(await read_output(call.site.store, row)).get(name)
        # A workflow wrote this list: it may refer only to the workflow's own files.
        folder = output_places(row).folder + "/"
        if found is None or not found[0].startswith(folder) or ".." in found[0].split("/"):
            raise not_found("the job wrote no such file")
        return await files.send(call.site.store, found[0], call.request, name)

    return Later(answer)


@get("/jobs/{job}/log", *BOTH, media="text/plain")
async def log(call: Call, job: UUID) -> Response | Later:
    """The log of the workflow, if its backend provides it; whole or a range of it."""
    row = await known_job(call, job)
    return Later(partial(files.send, call.site.store, output_places(row).log, call.request))


def output_places(row: dict[str, Any]) -> Places:
    """The locations of the results of a job's run."""
    return Places.of_output(row["job_id"], row["run"], row["reused"])


async def read_output(store: Store, row: dict[str, Any]) -> dict[str, Any]:
    """The output.json of a job's run."""
    key = output_places(row).output
    try:
        document = json.loads(await asyncio.to_thread(store.get, key, LARGEST))
    except StoreMissing:
        return {}
    except (ValueError, RecursionError):
        raise HttpProblem(404, "the output of this job cannot be read") from None
    return document if isinstance(document, dict) else {WHOLE: document}


async def _successful(call: Call, job: UUID) -> dict[str, Any]:
    row = await known_job(call, job)
    if row["job_status"] in ("accepted", "running"):
        raise not_found(f"job {job} has not ended", OGC + "result-not-ready")
    if row["job_status"] != "successful":
        detail = row["error"] or f"the job ended {row['status']}"
        status, kind = FAILED.get(row["status"], FAILED_OTHERWISE)
        raise HttpProblem(status, detail, kind=OGC + kind, title="The job did not succeed")
    return row


async def _outputs(call: Call, row: dict[str, Any]) -> dict[str, Any]:
    """The process may have been withdrawn since: then the output is shown as a whole."""
    known = await call.row(named("signalbox", "process"), {"process": row["process_id"]})
    return outputs_of(known or {"about": None})


async def _results(call: Call, row: dict[str, Any], known: dict[str, Any]) -> Response:
    output = await read_output(call.site.store, row)
    wanted: dict[str, Any] = row["outputs"] or dict.fromkeys(known)
    values = {name: _picked(output, name) for name, how in wanted.items() if not _by_reference(how)}
    places = {
        name: call.href(f"/jobs/{row['job_id']}/results/{quote(name, safe='')}")
        for name in wanted
        if name not in values
    }
    # A client that did not ask for parts and accepts only JSON is not sent parts.
    whole = row["response"] is None and len(wanted) > 1 and wants_json(call.request)
    if whole or row["response"] == "document":
        linked = {name: {"href": href, "type": "application/json"} for name, href in places.items()}
        inline = {name: _inline(value) for name, value in values.items()}
        return JSONResponse(inline | linked)
    if not values:
        links = ", ".join(f'<{href}>; rel="{quote(name)}"' for name, href in places.items())
        return Response(status_code=204, headers={"Link": links})
    if len(wanted) == 1:
        return _raw(*values.values())
    return _multipart(wanted, values, places)


def _inline(value: Any) -> Any:
    return {"value": value, "mediaType": "application/json"} if isinstance(value, dict) else value


def _by_reference(how: Any) -> bool:
    return isinstance(how, dict) and how.get("transmissionMode") == "reference"


def _picked(output: dict[str, Any], name: str) -> Any:
    return output.get(name) if name != WHOLE or WHOLE in output else output


def _raw(value: Any) -> Response:
    geographic = isinstance(value, dict) and value.get("type") in GEOJSON
    return JSONResponse(value, media_type="application/geo+json" if geographic else "application/json")


def _multipart(names: Iterable[str], values: dict[str, Any], places: dict[str, str]) -> Response:
    """A part for each output; an output by reference has the address of its content and no content."""
    boundary = secrets.token_hex(16)
    parts = []
    for name in names:
        head = f"--{boundary}\r\nContent-Type: application/json\r\nContent-ID: {quote(name)}\r\n"
        if name in values:
            parts.append(f"{head}\r\n{json.dumps(values[name])}\r\n")
        else:
            parts.append(f"{head}Content-Location: {places[name]}\r\n\r\n\r\n")
    content = "".join(parts) + f"--{boundary}--\r\n"
    return Response(content, media_type=f'multipart/related; type="application/json"; boundary={boundary}')


def _listed(output: dict[str, Any]) -> dict[str, tuple[str, str | None]]:
    """Key and hash of each file in an output, by name; values of another shape are left out."""
    found = {}
    for each in output.get("files") or []:
        if isinstance(each, dict) and isinstance(each.get("name"), str) and isinstance(each.get("key"), str):
            digest = each.get("sha256")
            found[each["name"]] = (each["key"], digest if isinstance(digest, str) else None)
    return found
