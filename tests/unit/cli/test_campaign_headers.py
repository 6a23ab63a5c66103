"""Credentials of a campaign's source are references, and nothing else is repeated."""

import pytest

from switchyard.cli.campaign_source import Named, source_of
from switchyard.errors import BadInput, ConfigError


def named(*headers: str, catalogue: str | None = "https://stac.example") -> Named:
    return Named(
        None, None if catalogue else "select 1 as id", catalogue, "{}" if catalogue else None, [*headers]
    )


@pytest.mark.parametrize(
    "header", ["Authorization", "Authorization=Bearer hunter2", "a b=env:X", "=env:X", "X:=env:X"]
)
def test_a_header_that_is_not_a_reference_is_refused_without_being_repeated(header: str) -> None:
    with pytest.raises(BadInput, match="--header") as refused:
        source_of(None, named(header))
    assert "hunter2" not in str(refused.value)


def test_a_secret_that_is_missing_or_no_header_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="env:CATALOGUE_TOKEN"):
        source_of(None, named("Authorization=env:CATALOGUE_TOKEN"))
    monkeypatch.setenv("CATALOGUE_TOKEN", "hunter2\r\nX-Other: 1")
    with pytest.raises(BadInput, match="printable") as refused:
        source_of(None, named("Authorization=env:CATALOGUE_TOKEN"))
    assert "hunter2" not in str(refused.value)


def test_headers_are_for_a_stac_api() -> None:
    with pytest.raises(BadInput, match="--header is for --from-stac"):
        source_of(None, named("Authorization=env:X", catalogue=None))


def test_a_source_does_not_show_its_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CATALOGUE_TOKEN", "hunter2")
    source = source_of(None, named("Authorization=env:CATALOGUE_TOKEN"))
    assert "hunter2" not in str(source.description())
