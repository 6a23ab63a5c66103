"""One hostile input, and what must come of it."""

import asyncio
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from switchyard.handlers import Failed, Invalid, Outcome, Retry, Success
from tests.integration.backends.http.servers import Speak

Kind = type[Success] | type[Retry] | type[Failed] | type[Invalid]


@dataclass(frozen=True)
class Case:
    """`url` is called as it is; `{port}` in it stands for the server that speaks `speak`, if there is one.

    `error` is searched for in the outcome's error (or in what a success says of its answer). `reached` says
    whether a connection may arrive at the server.
    """

    name: str
    outcome: Kind
    error: str
    url: str = "http://127.0.0.1:{port}/hook"
    sent: bool | None = None
    speak: Speak | None = None
    tls: Callable[[], ssl.SSLContext] | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)
    correlation_id: str = "corr-1"
    reached: bool = True
    check: Callable[[Outcome], None] | None = None

    def __str__(self) -> str:
        return self.name


async def silence(_reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    """Never say anything."""
    await asyncio.sleep(60)
