"""Security headers on every answer."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    # Answers depend on the caller: no shared cache may store them.
    "cache-control": "private, no-cache",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
_ENCODED = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


class SecurityHeaders:
    """An ASGI middleware; headers that the answer already has are not changed."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def add(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = message["headers"] = list(message.get("headers", []))
                names = {name.lower() for name, _ in given}
                given.extend(each for each in _ENCODED if each[0] not in names)
            await send(message)

        await self._app(scope, receive, add if scope["type"] == "http" else send)
