"""Errors as RFC 7807 documents."""

from http import HTTPStatus
from typing import Any

from pydantic import BaseModel

OGC = "http://www.opengis.net/def/exceptions/ogcapi-processes-1/1.0/"


class Problem(BaseModel):
    """An error document."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[dict[str, Any]] | None = None


class HttpProblem(Exception):  # noqa: N818 - RFC 7807's word
    """Ends a request with an error document."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        kind: str = "about:blank",
        title: str | None = None,
        errors: list[dict[str, Any]] | None = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.headers = headers or {}
        self.problem = Problem(
            type=kind,
            title=title or HTTPStatus(status).phrase,
            status=status,
            detail=detail,
            errors=errors,
        )


def not_found(detail: str, kind: str = "about:blank") -> HttpProblem:
    """404."""
    return HttpProblem(404, detail, kind=kind)
