"""The search for secrets finds them however they are written, and does not repeat them."""

import base64
import json
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.parts import leaks

SECRET = 'pass"word/with+odd ü'


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        quote(SECRET, safe=""),
        json.dumps({"a": SECRET}),
        base64.b64encode(SECRET.encode()).decode(),
    ],
)
def test_every_spelling_is_found_and_none_is_repeated(form: str) -> None:
    found = leaks.leak([SECRET], [("one place", "nothing"), ("the log", f"said {form} aloud")])
    assert found is not None
    assert "the log" in found
    assert form not in found


def test_the_secrets_own_file_is_where_it_came_from(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{SECRET}\n")
    assert leaks.leak([SECRET], leaks.files(tmp_path)) is None
    (tmp_path / "conductor.log").write_text(f"token={SECRET}\n")
    assert leaks.leak([SECRET], leaks.files(tmp_path)) is not None


def test_a_word_that_is_too_short_is_not_a_secret() -> None:
    assert leaks.leak(["word"], [("the log", "a word")]) is None
