"""Only the public internet is open, however an address is dressed up; allow-lists open what they name."""

from ipaddress import IPv4Address, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchyard.backends.http.address import AddressPolicy, closed, destination

OPEN = [
    "8.8.8.8",
    "1.1.1.1",
    "172.32.0.1",
    "2606:4700::1111",
    "3fff:1000::1",
    "::ffff:8.8.8.8",
    "64:ff9b::808:808",
    "100.128.0.1",
]
CLOSED = {
    "0.0.0.0": "unspecified",
    "0.1.2.3": "unspecified",
    "10.0.0.1": "private",
    "100.64.0.1": "shared (carrier-grade NAT)",
    "127.0.0.1": "loopback",
    "127.255.255.254": "loopback",
    "169.254.169.254": "link-local",
    "172.16.0.1": "private",
    "172.31.255.255": "private",
    "192.0.0.170": "reserved for protocols",
    "192.168.1.1": "private",
    "198.19.0.1": "reserved for benchmarks",
    "224.0.0.1": "multicast",
    "255.255.255.255": "reserved",
    "::": "unspecified",
    "::1": "loopback",
    "::ffff:127.0.0.1": "loopback",
    "::ffff:10.0.0.1": "private",
    "::ffff:169.254.169.254": "link-local",
    "::127.0.0.1": "reserved",
    "64:ff9b::7f00:1": "loopback",
    "64:ff9b::a9fe:a9fe": "link-local",
    "64:ff9b:1::808:808": "reserved",
    "2002:7f00:1::": "a 6to4 tunnel",
    "2002:808:808::1": "a 6to4 tunnel",
    "2001::1": "a Teredo tunnel",
    "2001:db8::1": "reserved for documentation",
    "fc00::1": "private",
    "fd12:3456::1": "private",
    "fe80::1": "link-local",
    "fe80::1%eth0": "link-local",
    "fec0::1": "private",
    "ff02::1": "multicast",
    "3fff::1": "reserved for documentation",
    "3fff:fff:ffff::1": "reserved for documentation",
    "100::1": "reserved",
    "4000::1": "reserved",
}


@pytest.mark.parametrize("text", OPEN)
def test_open(text: str) -> None:
    assert closed(ip_address(text)) is None


@pytest.mark.parametrize(("text", "reason"), CLOSED.items())
def test_closed(text: str, reason: str) -> None:
    assert closed(ip_address(text)) == reason


@given(st.integers(min_value=0, max_value=2**32 - 1))
def test_an_address_inside_another_is_judged_as_itself(number: int) -> None:
    inner = IPv4Address(number)
    for dressed in (ip_address((0xFFFF << 32) + number), ip_address((0x64FF9B << 96) + number)):
        assert destination(dressed) == inner
        assert closed(dressed) == closed(inner)


@given(st.ip_addresses())
def test_whatever_python_calls_not_global_is_closed(address: IPv4Address) -> None:
    if not destination(address).is_global:
        assert closed(address) is not None


def test_networks_open_themselves_only() -> None:
    policy = AddressPolicy(networks=[ip_network("10.20.0.0/16"), ip_network("fd00::/8")])
    assert policy.refusal(ip_address("10.20.3.4"), "a") is None
    assert policy.refusal(ip_address("::ffff:10.20.3.4"), "a") is None
    assert policy.refusal(ip_address("fd00::1"), "a") is None
    assert policy.refusal(ip_address("10.21.0.1"), "a") == "private"
    assert policy.refusal(ip_address("127.0.0.1"), "a") == "loopback"


def test_hosts_open_by_name_but_never_the_metadata_service() -> None:
    policy = AddressPolicy(hosts=["Hooks.Internal", "*.svc.example"])
    private = ip_address("10.0.0.1")
    assert policy.refusal(private, "hooks.internal.") is None
    assert policy.refusal(private, "a.b.svc.example") is None
    assert policy.refusal(private, "svc.example") == "private"
    assert policy.refusal(private, "evilsvc.example") == "private"
    assert policy.refusal(private, "x.hooks.internal") == "private"
    assert policy.refusal(ip_address("169.254.169.254"), "hooks.internal") == "link-local"
    assert policy.refusal(ip_address("0.0.0.0"), "hooks.internal") == "unspecified"
    assert policy.refusal(ip_address("224.0.0.1"), "hooks.internal") == "multicast"
    assert policy.refusal(ip_address("ff02::1"), "hooks.internal") == "multicast"


@pytest.mark.parametrize(
    "text",
    [
        "168.63.129.16",
        "::ffff:168.63.129.16",
        "100.100.100.200",
        "192.0.0.192",
        "fd00:ec2::254",
        "fd20:ce::254",
    ],
)
def test_security_l4_a_metadata_service_is_never_opened_by_name(text: str) -> None:
    address = ip_address(text)
    assert closed(address) == "a metadata service of a cloud"
    assert AddressPolicy(hosts=["metadata.example"]).refusal(address, "metadata.example") is not None
    assert AddressPolicy(networks=[ip_network(str(destination(address)))]).refusal(address, "any") is None
