"""Probes and metrics."""

from prometheus_client.exposition import choose_encoder
from starlette.responses import JSONResponse, Response

from signalbox.access.roles import Role
from signalbox.endpoint import Call, get


@get("/livez", media="application/json")
async def livez(call: Call) -> Response:
    """Whether the process answers; says nothing of the database."""
    del call
    return JSONResponse({"live": True}, headers={"Cache-Control": "no-store"})


@get("/readyz", media="application/json")
async def readyz(call: Call) -> Response:
    """Whether the database answers; 503 if it does not."""
    state = await call.site.database.ready()
    body = {"ready": state is True, "checks": {"database": state}}
    return JSONResponse(body, 200 if state is True else 503, headers={"Cache-Control": "no-store"})


@get("/metrics", Role.READER, media="text/plain")
async def metrics(call: Call) -> Response:
    """The metrics of this process, for Prometheus."""
    encode, kind = choose_encoder(call.request.headers.get("accept", ""))
    return Response(encode(call.site.registry), headers={"Content-Type": kind})
