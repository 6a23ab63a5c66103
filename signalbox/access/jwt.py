"""JWTs of an issuer, checked against its published keys; an unknown key id fetches them again."""

import asyncio
import time
from typing import Any

import httpx
import jwt

from signalbox.access.roles import Caller, Role
from switchyard.config.signalbox import Jwt
from switchyard.errors import Transient
from switchyard.ledger.jsonb import repaired_text
from switchyard.process.log import get_logger

FRESH = 600.0
AGAIN = 10.0  # made-up key ids must not cause a request to the issuer each time

log = get_logger(__name__)


class Unacceptable(Exception):  # noqa: N818 - what the token is
    """A token that does not identify a caller."""


class Keys:
    """The issuer's keys."""

    def __init__(self, settings: Jwt) -> None:
        self._settings = settings
        self._keys: dict[str, jwt.PyJWK] = {}
        self._fetched = float("-inf")
        self._lock = asyncio.Lock()

    async def caller(self, token: str) -> Caller:
        """The caller that the token identifies; Unacceptable if it is not valid or maps to no role."""
        try:
            key = await self._key(str(jwt.get_unverified_header(token).get("kid") or ""))
            claims = jwt.decode(
                token,
                key,
                algorithms=list(self._settings.algorithms),
                audience=self._settings.audience,
                issuer=self._settings.issuer,
                leeway=30,
                options={"require": ["exp", "iss", "aud", self._settings.name_claim]},
            )
        except (jwt.PyJWTError, ValueError) as error:
            raise Unacceptable(type(error).__name__) from error
        name = claims[self._settings.name_claim]
        if not isinstance(name, str) or not 0 < len(name) <= 200 or repaired_text(name) != name:
            raise Unacceptable("the name claim is not a short text")
        return Caller(f"jwt:{name}", self._role(claims))

    def _role(self, claims: dict[str, Any]) -> Role:
        given = claims.get(self._settings.role_claim, [])
        values = given.split() if isinstance(given, str) else given if isinstance(given, list) else []
        roles = {self._settings.roles[value] for value in values if value in self._settings.roles}
        for role in (Role.ADMIN, Role.OPERATOR, Role.READER, Role.SUBMITTER):
            if role in roles:
                return role
        raise Unacceptable("no claim gives a role")

    async def _key(self, name: str) -> jwt.PyJWK:
        age = time.monotonic() - self._fetched
        if (name not in self._keys and age > AGAIN) or age > FRESH:
            async with self._lock:
                if time.monotonic() - self._fetched > AGAIN:
                    await self._fetch()
        if name not in self._keys:
            raise Unacceptable("the issuer has no such key")
        return self._keys[name]

    async def _fetch(self) -> None:
        self._fetched = time.monotonic()
        try:
            async with httpx.AsyncClient(timeout=5.0, follow_redirects=False) as client:
                answer = await client.get(self._settings.jwks)
                answer.raise_for_status()
            found = jwt.PyJWKSet.from_dict(answer.json())
        except (httpx.HTTPError, jwt.PyJWTError, ValueError, AttributeError) as error:  # a list has no .get
            log.warning("the issuer's keys cannot be read", error=type(error).__name__)
            if not self._keys:
                raise Transient("the issuer's keys cannot be read now") from error
            return
        self._keys = {key.key_id or "": key for key in found.keys}
