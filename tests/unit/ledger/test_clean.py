"""Whatever a handler or a source says, what is written is text that Postgres takes."""

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from switchyard.ledger import clean

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=20,
)
surrogates = st.text(alphabet=st.characters(categories=["Cs", "Lu", "Cc"]))


@given(st.text() | surrogates)
def test_texts_hold_no_nul_and_encode(value: str) -> None:
    cleaned = clean.text(value, 40)
    assert "\0" not in cleaned
    cleaned.encode("utf-8")
    assert len(cleaned) <= 40


@given(st.dictionaries(st.text() | surrogates, anything | surrogates, min_size=1))
@example({"": "\\u0000"})
@example({"": "\\\0"})
def test_details_become_json_without_escaped_nul(value: dict[str, Any]) -> None:
    written = clean.detail(value)
    assert written is not None
    assert "\\u0000" not in written.replace("\\\\", ""), "an escaped backslash before u0000 is no NUL"
    written.encode("utf-8")
    json.loads(written, parse_constant=lambda name: 1 / 0)


def test_mutation_23_a_detail_off_the_fast_path_keeps_its_content() -> None:
    given = {"reason": "größer", "n": [1, 2.5, None, True], "long": "x" * 2_000, "nested": {"a": [{"b": {}}]}}
    written = clean.detail(given)
    assert written is not None
    assert json.loads(written) == given


def test_mutation_23_a_detail_is_cut_at_its_limit_and_not_before() -> None:
    fits = {"a": "x" * (clean.LONGEST_DETAIL - len('{"a": ""}'))}
    assert clean.detail(fits) == json.dumps(fits)
    cut = clean.detail({"a": fits["a"] + "x"})
    assert cut is not None
    assert json.loads(cut)["length"] == clean.LONGEST_DETAIL + 1


def test_mutation_23_a_text_is_cut_to_exactly_its_limit() -> None:
    assert clean.text("x" * 40, 40) == "x" * 40
    assert clean.text("x" * 41, 40) == "x" * 36 + " […]"


def test_mutation_23_lists_count_as_levels() -> None:
    written = clean.detail({"a": json.loads("[" * 250 + "]" * 250)})
    assert written is not None
    assert written.count("[") == 199


def test_an_empty_detail_is_null() -> None:
    assert clean.detail({}) is None


def test_a_huge_detail_is_cut_and_reports_it() -> None:
    written = clean.detail({"body": ["x" * 1000] * 1000})
    assert written is not None
    assert json.loads(written)["length"] > 1_000_000
    assert len(written) < 2_000


def test_a_deep_detail_ends() -> None:
    deep: dict[str, Any] = {}
    deep["again"] = deep
    assert clean.detail(deep) is not None


def test_a_document_stays_whole_however_long() -> None:
    given = {"body": ["x" * 1000] * 1000, "deep": json.loads("[" * 199 + "]" * 199)}
    assert json.loads(clean.document(given)) == given


@given(st.dictionaries(st.text() | surrogates, anything | surrogates))
def test_documents_become_json_without_escaped_nul(value: dict[str, Any]) -> None:
    written = clean.document(value)
    assert "\\u0000" not in written.replace("\\\\", ""), "an escaped backslash before u0000 is no NUL"
    written.encode("utf-8")
    json.loads(written, parse_constant=lambda name: 1 / 0)
