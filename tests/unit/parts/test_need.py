"""A missing part skips for a person and fails where all parts are required."""

import pytest

from tests.parts.cache import UnavailableError
from tests.parts.need import obtain


def _missing() -> None:
    raise UnavailableError("no compiler")


def test_a_person_sees_a_skip_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SWITCHYARD_TEST_REQUIRE", raising=False)
    with pytest.raises(pytest.skip.Exception, match="etcd is not available here: no compiler"):
        obtain("etcd", _missing)


def test_where_all_are_required_it_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWITCHYARD_TEST_REQUIRE", "all")
    with pytest.raises(pytest.fail.Exception, match="no compiler"):
        obtain("etcd", _missing)
