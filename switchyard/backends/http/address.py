"""Decides which addresses may be called: public ones, and those that a deployment allows by host or network.

The actual destination is checked: for IPv4-mapped and NAT64 addresses, the IPv4 address inside. 6to4 and
Teredo tunnel to an address of the sender's choosing and are refused. `allow_networks` allows exactly those
networks. `allow_hosts` allows the addresses of a trusted name, except link-local and other addresses of
clouds' metadata services, multicast and unspecified addresses: those need `allow_networks`.
"""

import ipaddress
from collections.abc import Iterable
from functools import lru_cache

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

# From the IANA registries of special-purpose addresses; the first match gives the reason.
_CLOSED_4 = tuple(
    (ipaddress.IPv4Network(network), reason)
    for network, reason in (
        ("0.0.0.0/8", "unspecified"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "shared (carrier-grade NAT)"),
        ("127.0.0.0/8", "loopback"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved for protocols"),
        ("192.0.2.0/24", "reserved for documentation"),
        ("192.88.99.0/24", "a 6to4 relay"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "reserved for benchmarks"),
        ("198.51.100.0/24", "reserved for documentation"),
        ("203.0.113.0/24", "reserved for documentation"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)
_CLOSED_6 = tuple(
    (ipaddress.IPv6Network(network), reason)
    for network, reason in (
        ("::/128", "unspecified"),
        ("::1/128", "loopback"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "private"),
        ("ff00::/8", "multicast"),
        ("2001::/32", "a Teredo tunnel"),
        ("2001::/23", "reserved for protocols"),
        ("2001:db8::/32", "reserved for documentation"),
        ("2002::/16", "a 6to4 tunnel"),
        ("3fff::/20", "reserved for documentation"),
    )
)
# Metadata services of clouds outside the link-local networks.
_METADATA = frozenset(
    ipaddress.ip_address(address)
    for address in (
        "168.63.129.16",  # Azure
        "100.100.100.200",  # Alibaba
        "192.0.0.192",  # Oracle
        "fd00:ec2::254",  # AWS
        "fd00:ec2::23",  # AWS, credentials of EKS pods
        "fd20:ce::254",  # Google
        "fd00:42::42",  # Scaleway
    )
)
_METADATA_REASON = "a metadata service of a cloud"
_PUBLIC_6 = ipaddress.IPv6Network("2000::/3")
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_NEVER_BY_NAME = frozenset({"link-local", "multicast", "unspecified", _METADATA_REASON})


def destination(address: Address) -> Address:
    """The address that packets really reach: the IPv4 one inside a mapped or NAT64 address."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address


@lru_cache(maxsize=4096)
def closed(address: Address) -> str | None:
    """Why this address is not a public one; None if it is."""
    end = destination(address)
    if end in _METADATA:
        return _METADATA_REASON
    if isinstance(end, ipaddress.IPv4Address):
        return next((reason for network, reason in _CLOSED_4 if end in network), None)
    reason = next((reason for network, reason in _CLOSED_6 if end in network), None)
    return reason or (None if end in _PUBLIC_6 else "reserved")


class AddressPolicy:
    """The addresses that one action may call."""

    def __init__(self, networks: Iterable[Network] = (), hosts: Iterable[str] = ()) -> None:
        self._networks = tuple(networks)
        names = [host.lower().rstrip(".") for host in hosts]
        self._names = frozenset(name for name in names if not name.startswith("*."))
        self._suffixes = tuple(name.removeprefix("*") for name in names if name.startswith("*."))

    def refusal(self, address: Address, host: str) -> str | None:
        """Why `address`, to which `host` resolves, may not be called; None if it may."""
        reason = closed(address)
        if reason is None or self._opened(destination(address)):
            return None
        if reason not in _NEVER_BY_NAME and self._named(host):
            return None
        return reason

    def _opened(self, address: Address) -> bool:
        return any(address.version == network.version and address in network for network in self._networks)

    def _named(self, host: str) -> bool:
        name = host.lower().rstrip(".")
        return name in self._names or name.endswith(self._suffixes or ("\0",))
