"""JSON Schema and JSONPath in the children of a pool."""

import json
from collections.abc import Iterator

import pytest

from switchyard.errors import EvaluationFailed, LimitExceeded
from switchyard.process import evaluate
from switchyard.process.bounded.pool import Pool


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    made = Pool(preload=evaluate.PRELOAD)
    yield made
    made.close()


def test_schema_problems_have_their_paths(pool: Pool) -> None:
    schema = json.dumps({"properties": {"n": {"items": {"type": "integer"}}}, "required": ["m"]})
    for value in ({"n": [1, "x"]}, b'{"n": [1, "x"]}'):
        assert pool.call(evaluate.schema_problems, schema, value) == [
            [["n", 1], "'x' is not of type 'integer'"],
            [[], "'m' is a required property"],
        ]


def test_security_h4_a_pattern_without_end_is_one_calls_failure(pool: Pool) -> None:
    schema = json.dumps({"type": "string", "pattern": r"^([a-zA-Z0-9]+[._-]?)+@example\.org$"})
    with pytest.raises(LimitExceeded):
        pool.call(evaluate.schema_problems, schema, "a" * 60, seconds=0.3)


def test_security_h4_a_quadratic_keyword_is_one_calls_failure(pool: Pool) -> None:
    items = [{"n": n} for n in range(12_000)]
    with pytest.raises(LimitExceeded):
        pool.call(evaluate.schema_problems, '{"uniqueItems": true}', items, seconds=0.3)


def test_a_schema_that_refers_to_itself(pool: Pool) -> None:
    with pytest.raises(LimitExceeded) as caught:
        pool.call(evaluate.schema_problems, '{"$ref": "#"}', 1)
    assert caught.value.limit == "depth"


def test_a_reference_is_never_fetched(pool: Pool) -> None:
    with pytest.raises(EvaluationFailed):
        pool.call(evaluate.schema_problems, '{"$ref": "http://127.0.0.1:1/x"}', 1)


def test_paths_find_values_and_recognise_single_ones(pool: Pool) -> None:
    found = pool.call(evaluate.paths, ["$.a", "$.b[*]", "$.c", "$["], {"a": 1, "b": [2, 3]})
    assert found[:3] == [[[1], True, None], [[2, 3], False, None], [[], True, None]]
    assert found[3][2] is not None


def test_security_h3_a_regular_expression_in_a_path(pool: Pool) -> None:
    path = "$.n[?match(@, '(a|aa)+b')]"
    with pytest.raises(LimitExceeded):
        pool.call(evaluate.paths, [path], {"n": ["a" * 90]}, seconds=0.3)


def test_security_h3_a_tower_of_selectors(pool: Pool) -> None:
    path = "$" + "[*,*,*,*,*,*,*,*,*,*]" * 9
    document: object = 1
    for _ in range(9):
        document = [document]
    found = pool.call(evaluate.paths, [path], document, 1000)
    assert found[0][2] == "the paths find too many values"
