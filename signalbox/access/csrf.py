"""Cross-site requests of browsers that change something are refused."""

from starlette.requests import Request

from signalbox.problem import HttpProblem

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


def refuse_other_sites(request: Request) -> None:
    """403 for a change requested by another site; clients that are not browsers send neither header."""
    if request.method in SAFE:
        return
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site is not None:
        same = site in ("same-origin", "none")
    else:
        same = origin is None or origin.partition("://")[2] == request.headers.get("host")
    if not same:
        raise HttpProblem(403, "this request was sent by a page of another site")
