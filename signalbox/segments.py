"""Routes by the first segment of their paths: a request is compared only with the routes of its segment."""

import re
from collections.abc import Iterable

from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

_BEGINNING = re.compile(r"/\w*")


class Segment(BaseRoute):
    """The routes below one first segment."""

    def __init__(self, beginning: str) -> None:
        self._beginning = beginning
        self.routes: list[Route] = []

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """The first route that matches path and method, otherwise the routes that match the path."""
        allowed: set[str] = set()
        if scope["type"] == "http" and _within(scope).startswith(self._beginning):
            for route in self.routes:
                match, more = route.matches(scope)
                if match is Match.FULL:
                    return match, {**more, "matched": route}
                if match is Match.PARTIAL:
                    allowed |= route.methods or set()
        return (Match.PARTIAL, {"allowed": allowed}) if allowed else (Match.NONE, {})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Call the matching route; 405 with all methods of the path if none accepts this one."""
        if "matched" not in scope:
            raise HTTPException(405, headers={"Allow": ", ".join(sorted(scope["allowed"]))})
        await scope["matched"].handle(scope, receive, send)


def _within(scope: Scope) -> str:
    """The path without the prefix under which this application is mounted."""
    return str(scope["path"]).removeprefix(scope.get("root_path", ""))


def by_segment(routes: Iterable[Route]) -> list[BaseRoute]:
    """The routes in groups, in their original order."""
    found: dict[str, Segment] = {}
    for route in routes:
        begun = _BEGINNING.match(route.path)
        beginning = begun[0] if begun else "/"
        found.setdefault(beginning, Segment(beginning)).routes.append(route)
    return list(found.values())
