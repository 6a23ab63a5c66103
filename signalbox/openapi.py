"""The OpenAPI 3.0 document, generated from the endpoints and the models that they use."""

import re
from functools import cache
from typing import Any

from pydantic import BaseModel, TypeAdapter
from pydantic.json_schema import models_json_schema

from signalbox.endpoint import ENDPOINTS, Endpoint
from signalbox.problem import Problem
from switchyard import __version__

REFERENCE = "#/components/schemas/{model}"
ALWAYS = (400, 429, 503)
WITH_ROLES = (401, 403)
WITH_BODY = (408, 413, 415, 422)
PHRASES = {
    400: "The request is not valid",
    401: "No valid credentials",
    403: "The caller's role may not do this",
    404: "There is no such thing",
    408: "The body did not arrive in time",
    409: "It is not in a state for this, or has changed meanwhile",
    413: "The body is too large",
    415: "The body is not JSON",
    416: "The file has no such range",
    422: "The content is not valid; `errors` has JSON pointers",
    429: "Too many failed logins",
    503: "The database or the object store is not available now",
}
RANGED = ("job_file", "log")
RESULTS: dict[str, Any] = {"application/json": {}, "application/geo+json": {}, "multipart/related": {}}


@cache
def document() -> dict[str, Any]:
    """The document, without the address of a server."""
    models = sorted(_models(), key=lambda model: model.__name__)
    named, schemas = models_json_schema([(model, "validation") for model in models], ref_template=REFERENCE)
    del named
    paths: dict[str, Any] = {}
    for each in ENDPOINTS:
        paths.setdefault(re.sub(r":path}", "}", each.path), {})[each.method.lower()] = _operation(each)
    return {
        "openapi": "3.0.3",
        "info": {
            "title": "Switchyard",
            "description": "OGC API Processes, and what Switchyard has beyond it.",
            "version": __version__,
        },
        "paths": paths,
        "components": {
            "schemas": {name: as_3_0(schema) for name, schema in schemas["$defs"].items()},
            "responses": {f"Problem{code}": _problem(code) for code in PHRASES},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def as_3_0(schema: Any) -> Any:
    """A JSON Schema of pydantic, converted to the dialect of OpenAPI 3.0."""
    if isinstance(schema, list):
        return [as_3_0(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    found = {key: as_3_0(value) for key, value in schema.items() if key not in ("examples", "title")}
    if isinstance(schema.get("properties"), dict):
        found["properties"] = {key: as_3_0(value) for key, value in schema["properties"].items()}
    if found.get("default", ...) is None:
        del found["default"]
    if "prefixItems" in found:
        found["items"] = {"anyOf": found.pop("prefixItems")}
    if "const" in found:
        found["enum"] = [found.pop("const")]
    options = found.get("anyOf")
    if isinstance(options, list) and {"type": "null"} in options:
        rest = [each for each in options if each != {"type": "null"}]
        del found["anyOf"]
        found |= {"nullable": True} | (
            rest[0] if len(rest) == 1 and "$ref" not in rest[0] else {"anyOf": rest}
        )
    if "$ref" in found and len(found) > 1:
        found = {"allOf": [{"$ref": found.pop("$ref")}], **found}
    return found


def _models() -> set[type[BaseModel]]:
    found: set[type[BaseModel]] = {Problem}
    for each in ENDPOINTS:
        kinds = [each.record, each.hints.get("body")]
        found |= {kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)}
    return found


def _operation(endpoint: Endpoint) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": endpoint.name,
        "summary": endpoint.about,
        "parameters": [
            *_path_parameters(endpoint),
            *_query_parameters(endpoint),
            *_header_parameters(endpoint),
        ],
        "responses": _responses(endpoint),
    }
    if endpoint.roles:
        operation["security"] = [{"bearer": []}]
    body = endpoint.hints.get("body")
    if body is not None:
        content = {"application/json": {"schema": {"$ref": REFERENCE.format(model=body.__name__)}}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _path_parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": as_3_0(TypeAdapter(kind).json_schema())}
        for name, kind in endpoint.parameters().items()
    ]


def _query_parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    formats = {
        "name": "f",
        "in": "query",
        "description": "The format of the answer, instead of the Accept header.",
        "schema": {"type": "string", "enum": ["html", "json"]},
    }
    found = [formats] if endpoint.template is not None or endpoint.name == "results" else []
    model = endpoint.hints.get("query")
    if model is None:
        return found
    properties = model.model_json_schema()["properties"]
    for name, schema in properties.items():
        described = as_3_0(schema)
        # A query string has no null: a parameter that may be None is optional.
        described.pop("nullable", None)
        about = described.pop("description", "")
        described.pop("default", None) if described.get("format") == "uuid" else None
        commas: dict[str, Any] = (
            {"style": "form", "explode": False} if name == "bbox" else {}
        )  # as other standards have it
        found.append({"name": name, "in": "query", "description": about, **commas, "schema": described})
    return found


def _header_parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    if endpoint.name != "execute":
        return []
    text = {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[ -~]+$"}
    return [
        {
            "name": "Idempotency-Key",
            "in": "header",
            "description": "The same key with the same request finds the first job.",
            "schema": text,
        },
        {
            "name": "Prefer",
            "in": "header",
            "description": "respond-async, or wait=SECONDS.",
            "schema": {"type": "string"},
        },
    ]


def _responses(endpoint: Endpoint) -> dict[str, Any]:
    codes = [*ALWAYS, *(WITH_ROLES if endpoint.roles else ())]
    if endpoint.parameters() or endpoint.method == "DELETE":
        codes.append(404)
    if endpoint.method != "GET":
        codes += [409, 403]
    if "body" in endpoint.hints:
        codes += WITH_BODY
    if endpoint.name in RANGED:
        codes.append(416)
    codes.append(422)
    answers = {str(endpoint.success): _success(endpoint)}
    if endpoint.method == "GET" and endpoint.media is None:
        answers["304"] = {"description": "The caller has it already"}
    if endpoint.name in RANGED:
        answers["206"] = _success(endpoint)
    if endpoint.name == "execute":
        answers["200"] = {"description": "The results, where the process is synchronous", "content": RESULTS}
    if endpoint.name in ("results", "execute"):
        answers["204"] = {"description": "The outputs are by reference, in the Link header"}
    if endpoint.name == "login":
        codes.append(401)
    problems = {str(code): {"$ref": f"#/components/responses/Problem{code}"} for code in sorted(set(codes))}
    return answers | problems


def _success(endpoint: Endpoint) -> dict[str, Any]:
    if endpoint.success == 303:
        return {"description": "Go on at the address in Location"}
    if endpoint.media is not None:
        kinds = ["*/*"] if endpoint.name in RANGED else [endpoint.media]
        if endpoint.name in ("results", "result"):
            kinds = list(RESULTS)
        if endpoint.name == "api":
            kinds.append("text/html")
        return {"description": endpoint.about, "content": {kind: {} for kind in kinds}}
    schema = {"schema": {"$ref": REFERENCE.format(model=endpoint.record.__name__)}}
    page = {"text/html": {"schema": {"type": "string"}}} if endpoint.template is not None else {}
    found: dict[str, Any] = {"description": endpoint.about, "content": {"application/json": schema, **page}}
    if endpoint.success == 201:
        found["headers"] = {"Location": {"description": "The job", "schema": {"type": "string"}}}
    return found


def _problem(code: int) -> dict[str, Any]:
    schema = {"schema": {"$ref": REFERENCE.format(model="Problem")}}
    content = dict.fromkeys(("application/problem+json", "application/json"), schema)
    page = {"text/html": {"schema": {"type": "string"}}}
    return {"description": PHRASES[code], "content": {**content, **page}}
