"""What `reuse` of a workflow may say."""

from typing import Any

import pytest
from pydantic import ValidationError

from switchyard.config.reuse import Reuse


@pytest.mark.parametrize("path", ["$", "$.item", "$.a.b_2", '$."a name".b', "$.bands[*]", "$.bands[0].name"])
def test_paths_that_every_jsonpath_understands(path: str) -> None:
    assert Reuse(version="7", key=(path,)).rule()["key"] == [path]


@pytest.mark.parametrize(
    "wrong",
    [
        {"key": ["$.item"]},
        {"version": "", "key": ["$.item"]},
        {"version": "7", "key": []},
        {"version": "7", "key": ["item"]},
        {"version": "7", "key": ["$..item"]},
        {"version": "7", "key": ["$.item ? (@ > 1)"]},
        {"version": "7", "key": ["$.item"], "for": 0},
        {"version": "7", "key": ["$.item"], "forever": True},
    ],
)
def test_it_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Reuse.model_validate(wrong)


def test_as_it_is_announced() -> None:
    reuse = Reuse.model_validate({"version": "7", "key": ["$.item"], "for": "1d", "shared": True})
    assert reuse.rule() == {"version": "7", "key": ["$.item"], "for": 86400.0, "shared": True}
