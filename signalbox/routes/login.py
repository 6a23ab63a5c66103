"""Logging in to the pages: the token is stored in a cookie that scripts cannot read."""

from typing import Annotated

from pydantic import StringConstraints
from starlette.responses import Response

from signalbox.access.authenticate import COOKIE, checked
from signalbox.access.csrf import refuse_other_sites
from signalbox.endpoint import Call, get, post
from signalbox.records.base import Record


class Login(Record):
    """The fields of a login."""

    token: Annotated[str, StringConstraints(min_length=1, max_length=10_000, strip_whitespace=True)]
    """A token of `switchyard token add`, or a JWT of the configured issuer."""


class LoginPage(Record):
    """How to log in."""

    hint: str
    """Where to get a token."""


@get("/login", template="login")
async def login_page(call: Call) -> LoginPage:
    """How to log in."""
    del call
    return LoginPage(hint="An administrator makes a token with: switchyard token add NAME --role reader")


@post("/login", success=303)
async def login(call: Call, body: Login) -> Response:
    """Log in to the pages."""
    refuse_other_sites(call.request)
    await checked(call.site, call.request, body.token)
    answer = Response(status_code=303, headers={"Location": call.url("/")})
    secure = call.site.origin(call.request).startswith("https://")
    answer.set_cookie(
        COOKIE,
        body.token,
        path=call.site.base_path or "/",
        secure=secure,
        httponly=True,
        samesite="strict",
    )
    return answer


@post("/logout", success=303)
async def logout(call: Call) -> Response:
    """Log out of the pages."""
    refuse_other_sites(call.request)
    answer = Response(status_code=303, headers={"Location": call.url("/login")})
    answer.delete_cookie(COOKIE, path=call.site.base_path or "/")
    return answer
