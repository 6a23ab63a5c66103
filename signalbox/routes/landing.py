"""The landing page, conformance and the API document."""

from dataclasses import replace

from starlette.responses import JSONResponse, Response

from signalbox.access.authenticate import recognised
from signalbox.access.roles import Role
from signalbox.endpoint import Call, get
from signalbox.negotiate import wants_html
from signalbox.openapi import document
from signalbox.records.conformance import Conformance
from signalbox.records.landing import Landing
from signalbox.render import as_page

RELATION = "http://www.opengis.net/def/rel/ogc/1.0/"
OPENAPI = "application/vnd.oai.openapi+json;version=3.0"
CLASS = "http://www.opengis.net/spec/ogcapi-processes-1/1.0/conf/"
CLASSES = ("core", "ogc-process-description", "json", "html", "oas30", "job-list", "dismiss")


@get("/", Role.READER, Role.SUBMITTER, template="overview", parts=("queues", "workers", "inbox", "jobs"))
async def landing(call: Call) -> Landing:
    """The server's name, description and links."""
    links = [
        call.link("/?f=json", "self"),
        call.link("/?f=html", "alternate", "text/html"),
        call.link("/api", "service-desc", OPENAPI),
        call.link("/api?f=html", "service-doc", "text/html"),
        call.link("/conformance", RELATION + "conformance"),
        call.link("/conformance", "conformance"),
        call.link("/processes", RELATION + "processes"),
        call.link("/processes", "processes"),
        call.link("/jobs", RELATION + "job-list"),
    ]
    return Landing(
        title="Switchyard", description="Runs workflows and follows them to their end.", links=links
    )


@get("/conformance", Role.READER, Role.SUBMITTER, template="conformance")
async def conformance(call: Call) -> Conformance:
    """The conformance classes of OGC API Processes that this server implements."""
    callback = ("callback",) if call.site.config.signalbox.subscriber_action else ()
    return Conformance(conformsTo=[CLASS + name for name in (*CLASSES, *callback)])


@get("/api", media=OPENAPI)
async def api(call: Call) -> Response:
    """This document; with f=html or Accept: text/html a page that lists its routes."""
    if wants_html(call.request):
        seen = replace(call, caller=await recognised(call.site, call.request))
        return as_page(seen, "api", document(), {}, 200)
    served = {**document(), "servers": [{"url": call.href("")}]}
    return JSONResponse(served, media_type=OPENAPI)
