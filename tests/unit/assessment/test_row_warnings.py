"""Every warning is known to the report, which groups by what it is about."""

import re

import pytest

from assessment.row_warnings import ALL, Warned, heading_of


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.heading)
def test_a_warning_is_found_by_its_words(kind: Warned) -> None:
    values = dict.fromkeys(re.findall(r"\{(\w+)\}", kind.text), "Café (x.*)\nb")
    assert heading_of(kind(**values)) == kind.heading


def test_other_words_have_no_heading() -> None:
    assert heading_of("something else") is None
    assert heading_of("it has the same id as site 2") is None
