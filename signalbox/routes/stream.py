"""The stream: what changes on a page, as server-sent events."""

from typing import Annotated
from urllib.parse import urlsplit

from pydantic import StringConstraints
from starlette.responses import Response, StreamingResponse

from signalbox.access.roles import Role
from signalbox.endpoint import Call, Later, get
from signalbox.live.poller import Page
from signalbox.live.regions import watchable
from signalbox.problem import HttpProblem
from signalbox.records.base import Record


class StreamQuery(Record):
    """The page to follow."""

    path: Annotated[str, StringConstraints(pattern="^/[^/]?", max_length=2000)] = "/"
    """Path and query of a page, like /jobs?status=running."""


@get("/stream", Role.READER, Role.SUBMITTER, media="text/event-stream")
async def stream(call: Call, query: StreamQuery) -> Response | Later:
    """The regions of a page as they change, as server-sent events."""
    parts = urlsplit(query.path)
    watchable(parts.path, call.caller)
    if call.site.live.full:
        raise HttpProblem(503, "too many streams", headers={"Retry-After": "10"})
    page = Page(parts.path, parts.query, call.caller)

    async def answer() -> Response:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(call.site.live.watch(page), headers=headers, media_type="text/event-stream")

    return Later(answer)
