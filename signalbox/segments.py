"""Routes by the beginning of their paths: a request is compared with those of its subject alone."""

import re
from collections.abc import Iterable

from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

_BEGINNING = re.compile(r"/\w*")


class Segment(BaseRoute):
    """The routes below one beginning."""

    def __init__(self, beginning: str) -> None:
        self._beginning = beginning
        self.routes: list[Route] = []

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """The first route that takes path and method, else those that take the path."""
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
        """Let the route that matched answer; 405 with all methods of the path where none takes this one."""
        if "matched" not in scope:
            raise HTTPException(405, headers={"Allow": ", ".join(sorted(scope["allowed"]))})
        await scope["matched"].handle(scope, receive, send)


def _within(scope: Scope) -> str:
    """The path without that of what mounts us."""
    return str(scope["path"]).removeprefix(scope.get("root_path", ""))


def by_segment(routes: Iterable[Route]) -> list[BaseRoute]:
    """The routes in groups, each in its order."""
    found: dict[str, Segment] = {}
    for route in routes:
        begun = _BEGINNING.match(route.path)
        beginning = begun[0] if begun else "/"
        found.setdefault(beginning, Segment(beginning)).routes.append(route)
    return list(found.values())
