"""The regions of a page, rendered again: the blocks `region_<id>` of its template."""

from typing import Any

from starlette.requests import Request
from starlette.routing import compile_path

from signalbox.access.roles import Caller
from signalbox.counts import counts_for
from signalbox.endpoint import ENDPOINTS, Call, Endpoint, Later
from signalbox.exchange import given_in, parts_of
from signalbox.live.poller import Page, Regions
from signalbox.pages.environment import environment
from signalbox.problem import HttpProblem, not_found
from signalbox.render import context
from signalbox.site import Site

PREFIX = "region_"


def watchable(path: str, caller: Caller) -> tuple[Endpoint, dict[str, Any]]:
    """The route of a page that the caller may watch, and the parts of its path."""
    for endpoint in ENDPOINTS:
        if endpoint.method == "GET" and endpoint.template is not None:
            found = compile_path(endpoint.path)[0].match(path)
            if found is not None:
                if not endpoint.open_to(caller):
                    raise HttpProblem(403, f"the role {caller.role} may not do this")
                return endpoint, found.groupdict()
    raise not_found("there is no page at this path")


async def read_regions(site: Site, page: Page) -> Regions:
    """The current HTML of the page's regions."""
    endpoint, parameters = watchable(page.path, page.caller)
    request = _request(site, page, parameters)
    given = given_in(endpoint, request)
    async with site.database.transaction(page.caller) as connection:
        call = Call(site, request, page.caller, connection)
        begun = await endpoint.handle(call, **given)
        call.counts = await counts_for(call)
        parts = await parts_of(endpoint, call, given)
    record = await begun.run() if isinstance(begun, Later) else begun
    template = environment().get_template(f"{endpoint.template}.html")
    made = template.new_context(context(call, record, parts))
    blocks = {**environment().get_template("base.html").blocks, **template.blocks}
    return {
        name.removeprefix(PREFIX): "".join(block(made))
        for name, block in blocks.items()
        if name.startswith(PREFIX)
    }


def _request(site: Site, page: Page, parameters: dict[str, Any]) -> Request:
    return Request({
        "type": "http",
        "method": "GET",
        "scheme": "http",
        "path": site.base_path + page.path,
        "query_string": page.query.encode(),
        "headers": [(b"host", b"localhost")],
        "path_params": parameters,
    })  # fmt: skip
