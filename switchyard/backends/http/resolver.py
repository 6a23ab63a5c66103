"""Resolves addresses once, checks them, and pins connections to them.

The model: the answer for a name is untrusted and may differ the next time. So one look-up gives the
addresses, all of them are checked, and the socket is opened to one of exactly these: aiohttp gets numbers and
makes no second look-up. An answer with one refused address among allowed ones is refused as a whole.
The window of trust is one connection. A pooled connection stays at the checked address it was opened to; for
a new one the name is checked again, at the latest when the answer is CACHE_SECONDS old.
The last check is at the socket itself: an address that was not admitted here gets no socket.
"""

import asyncio
import errno
import ipaddress
import os
import socket
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from switchyard.backends.http.address import AddressPolicy
from switchyard.backends.http.url import literal

CACHE_SECONDS = 5
LOOKUPS = 8  # at once; a name server that never answers only blocks these threads
_REMEMBERED = 4096
_NUMERIC = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV


class AddressError(ValueError):
    """This action may not call the address."""


class VettedResolver(AbstractResolver):
    """Looks up names, checks every answer, and opens sockets only to checked addresses."""

    def __init__(self, policy: AddressPolicy) -> None:
        self._policy = policy
        self._admitted: OrderedDict[str, None] = OrderedDict()
        self._literals: OrderedDict[str, None] = OrderedDict()  # written in URLs; a name may be allowed more
        self._threads = ThreadPoolExecutor(LOOKUPS, thread_name_prefix="http-resolve")

    def admit_literal(self, url: URL) -> None:
        """Check an address that is part of the URL, which never reaches `resolve`."""
        host = url.raw_host or ""
        if host in self._literals:
            return
        address = literal(url)
        if address is not None:
            self._admit(str(address), host)
            _remember(self._literals, host)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The checked addresses of a name. OSError if there are none, AddressError if one is refused."""
        found = await asyncio.get_running_loop().run_in_executor(
            self._threads, lambda: socket.getaddrinfo(host, port, family, socket.SOCK_STREAM)
        )
        if not found:
            raise OSError(errno.EADDRNOTAVAIL, "the name has no address")
        numbers = list(dict.fromkeys(str(address[0]) for *_, address in found))
        for number in numbers:
            self._admit(number, host)
        return [_result(host, number, port) for number in numbers]

    def socket_for(self, info: Any) -> socket.socket:
        """The socket for a connection; only to an admitted address."""
        family, kind, protocol, _, address = info
        if str(ipaddress.ip_address(address[0])) not in self._admitted:
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        return socket.socket(family, kind, protocol)

    async def close(self) -> None:
        """Release the threads; a running look-up ends by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _admit(self, number: str, host: str) -> None:
        address = ipaddress.ip_address(number)  # a zone ("fe80::1%eth0") stays, and stays refused
        refusal = self._policy.refusal(address, host)
        if refusal is not None:
            is_name = host.strip("[]") != number
            what = f"{host} resolves to {number}, which" if is_name else f"{number}"
            raise AddressError(f"{what} is {refusal}: not in allow_networks or allow_hosts")
        _remember(self._admitted, str(address))


def _remember(known: OrderedDict[str, None], text: str) -> None:
    known[text] = None
    known.move_to_end(text)
    if len(known) > _REMEMBERED:
        known.popitem(last=False)


def _result(host: str, number: str, port: int) -> ResolveResult:
    family = socket.AF_INET6 if ":" in number else socket.AF_INET
    return ResolveResult(hostname=host, host=number, port=port, family=family, proto=0, flags=_NUMERIC)
