"""What `check` refuses in a request before anything is sent."""

import pytest

from switchyard.backends.http.model import check_url


@pytest.mark.parametrize(
    "url",
    [
        "https://api.example.com{{ parameters.path }}",
        "https://{{ parameters.tenant }}.example.com/hook",
        "https://api.example.com:{{ parameters.port }}/hook",
        "https://api.example.com{% if parameters.x %}{{ parameters.x }}{% endif %}/hook",
        "https://{{ secrets.host }}.example{{ parameters.path }}",
    ],
)
def test_security_l9_an_expression_beside_a_literal_host_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match="end the host with a slash"):
        check_url(url)


@pytest.mark.parametrize(
    "url",
    [
        "{{ parameters.url }}",
        "https://{{ parameters.host }}/hook",
        "https://{{ parameters.host }}:8443/hook",
        "https://api.example.com/{{ parameters.path }}",
        "https://api.example.com?x={{ parameters.path }}",
        "https://{{ secrets.tenant }}.example.com/hook",
        "{{ parameters.scheme }}://api.example.com/hook",
    ],
)
def test_other_addresses_are_taken(url: str) -> None:
    assert check_url(url) == url
