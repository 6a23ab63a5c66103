"""HTML, JSON or parts: by `f=`, else by the Accept header."""

from starlette.requests import Request

from signalbox.problem import HttpProblem

FORMATS = ("html", "json")


def wants_html(request: Request) -> bool:
    """Whether HTML is preferred; the default is JSON."""
    given = request.query_params.get("f")
    if given is not None:
        if given not in FORMATS:
            raise HttpProblem(400, f"f: {given[:20]!r} is not one of html, json")
        return given == "html"
    ranked = _ranked(request.headers.get("accept", "*/*"))
    html = max((quality for kind, quality in ranked if kind in ("text/html", "text/*")), default=0.0)
    json = max(
        (quality for kind, quality in ranked if "json" in kind or kind == "application/*"), default=0.0
    )
    return html > json


def wants_json(request: Request) -> bool:
    """Whether JSON is requested explicitly, and a multipart answer is not accepted."""
    if "f" in request.query_params:
        return not wants_html(request)
    accepted = {kind for kind, quality in _ranked(request.headers.get("accept", "*/*")) if quality > 0}
    return "application/json" in accepted and not accepted & {"*/*", "multipart/*", "multipart/related"}


def _ranked(accept: str) -> list[tuple[str, float]]:
    found = []
    for part in accept[:2000].split(","):
        kind, _, rest = part.strip().partition(";")
        found.append((kind.strip().lower(), _quality(rest)))
    return found


def _quality(parameters: str) -> float:
    for parameter in parameters.split(";"):
        name, _, value = parameter.strip().partition("=")
        if name == "q":
            try:
                return min(max(float(value), 0.0), 1.0)
            except ValueError:
                return 0.0
    return 1.0
