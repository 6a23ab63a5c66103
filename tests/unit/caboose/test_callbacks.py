"""What follows an end: planned from the configuration alone, the same every time."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from itertools import chain, islice
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caboose.complete.callbacks import Limits, _limited
from caboose.complete.plan import Candidate, callback_uuid, document_of, evaluate, own_callbacks, plan
from caboose.rows import Ended, Planned
from switchyard.config.callbacks import Callback, Value
from switchyard.status import ENDS, Status

U = UUID("0190163d-8694-739b-aea5-966c26f8ad91")
AT = datetime(2026, 3, 1, 12, 0, 0, 123000, tzinfo=UTC)


def ended(status: Status = Status.SUCCESSFUL, run: int = 1, own: Any = None) -> Ended:
    written = None if own is None else json.dumps(own)
    return Ended(U, run, status, "why", "run", "flow", 50, "c-1", AT, AT, AT, '{"x": 1}', written)


def planned_of(end: Ended, configured: list[Callback], output: Any) -> Iterator[Planned]:
    own, unreadable = own_callbacks(end)
    candidates = [*(Candidate("configured", each) for each in configured), *own]
    return chain(plan(end, candidates, document_of(end, output)), unreadable)


def callback(**more: Any) -> Callback:
    return Callback.model_validate({"name": "done", "action": "hook", **more})


@given(st.integers(1, 1000), st.text(max_size=20), st.integers(0, 10**6) | st.none())
def test_a_callbacks_uuid_is_version_7_of_the_end_and_always_the_same(
    run: int, name: str, item: int | None
) -> None:
    uuid = callback_uuid(ended(run=run), "configured", name, item)
    assert uuid == callback_uuid(ended(run=run), "configured", name, item)
    assert uuid.version == 7
    assert uuid.variant == "specified in RFC 4122"
    assert uuid.int >> 80 == int(AT.timestamp() * 1000)


def test_every_item_of_every_callback_of_every_run_has_a_uuid_of_its_own() -> None:
    made = {
        callback_uuid(ended(run=run), origin, name, item)
        for run in (1, 2)
        for origin in ("configured", "own 0")
        for name in ("a", "b")
        for item in (None, *range(500))
    }
    assert len(made) == 2 * 2 * 2 * 501


@pytest.mark.parametrize("status", sorted(ENDS))
def test_failed_matches_every_unsuccessful_end(status: Status) -> None:
    planned = list(planned_of(ended(status), [callback(when=["failed"])], None))
    assert bool(planned) == (status is not Status.SUCCESSFUL)
    planned = list(planned_of(ended(status), [callback(when_not=["failed"])], None))
    assert bool(planned) == (status is Status.SUCCESSFUL)


def test_items_are_planned_one_at_a_time() -> None:
    features = ({"id": number} for number in range(10**9))
    output = {"features": list(islice(features, 3))}
    each = callback(
        **{"for": "items", "parameters": {"id": {"path": "$.item.id"}, "x": {"path": "$.input.x"}}}
    )
    planned = planned_of(ended(), [each], output)
    assert next(planned).parameters == {"item": {"id": 0}, "id": 0, "x": 1}
    assert [one.parameters["id"] for one in planned] == [1, 2]


@pytest.mark.parametrize("output", [None, {}, [], "text", 5, {"features": None}, {"features": "abc"}])
def test_an_output_without_items_gives_none(output: Any) -> None:
    assert list(planned_of(ended(), [callback(**{"for": "items"})], output)) == []


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ({"value": {"a": [1]}}, {"a": [1]}),
        ({"path": "$.output.n"}, 7),
        ({"path": "$.output.missing"}, None),
        ({"path": "$.output.missing", "default": 3}, 3),
        ({"path": "$.output.list[*]"}, [1, 2]),
        ({"path": "$.output.list[?@ > 1]"}, [2]),
        ({"path": "$.workflow.status"}, "SUCCESSFUL"),
    ],
)
def test_values(value: dict[str, Any], found: Any) -> None:
    document = document_of(ended(), {"n": 7, "list": [1, 2]})
    assert evaluate(Value.model_validate(value), document) == found


@pytest.mark.parametrize(
    "more", [{"parameters": {"n": {"path": "$.output..n"}}}, {"for": "items", "items": "$..x"}]
)
def test_a_path_that_fails_is_reported_with_the_callback(more: dict[str, Any]) -> None:
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    *_, planned = planned_of(ended(), [callback(**more)], deep)
    assert planned.invalid is not None
    assert planned.invalid.startswith("a JSONPath of the callback done failed: ")


def test_the_priority_is_the_parents_unless_it_has_its_own() -> None:
    first, second = planned_of(ended(), [callback(), callback(name="b", priority=3)], None)
    assert (first.priority, second.priority) == (50, 3)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=10),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=8,
    )
)
def test_whatever_a_caller_writes_as_a_callback_is_planned_or_seen(written: Any) -> None:
    for planned in planned_of(ended(own=[written]), [], None):
        assert planned.action_name
        assert planned.callback


@pytest.mark.parametrize("name", ["", "a\0b", "x" * 201, 5, None])
def test_a_name_that_no_action_can_have_is_replaced(name: Any) -> None:
    [planned] = planned_of(ended(own=[{"name": name, "action": name}]), [], None)
    assert (planned.callback, planned.action_name) == ("own 0", "run")
    assert planned.invalid is not None


def test_of_a_callback_that_cannot_be_read_the_names_remain() -> None:
    [planned] = planned_of(ended(own=[{"name": "n" * 200, "action": "a", "for": "nothing"}]), [], None)
    assert (planned.callback, planned.action_name) == ("n" * 200, "a")


@pytest.mark.parametrize("output", [None, 5, "text", [], {"summary": {"n": 1}}])
def test_a_callback_without_parameters_is_given_the_state_and_the_summary(output: Any) -> None:
    [planned] = planned_of(ended(), [callback()], output)
    given = output["summary"] if isinstance(output, dict) else None
    assert planned.parameters == {"workflow": document_of(ended(), output)["workflow"], "summary": given}
    [named] = planned_of(ended(), [callback(parameters={"n": {"value": 1}})], output)
    assert named.parameters == {"n": 1}


@pytest.mark.parametrize(("found", "kind"), [(None, "nothing"), ([1], "a list"), ("x", "a str")])
def test_the_input_of_a_chained_workflow_is_an_object(found: Any, kind: str) -> None:
    chained = callback(workflow="next", input={"path": "$.output"})
    [planned] = planned_of(ended(), [chained], found)
    assert planned.invalid == f"the input of next must be an object, not {kind}"
    [planned] = planned_of(ended(), [chained], {"a": 1})
    assert (planned.invalid, planned.parameters) == (None, {"a": 1})


@pytest.mark.parametrize(
    ("item", "uuid"),
    [(None, "019ca945-0a7b-73cc-b54f-f88c3d228402"), (7, "019ca945-0a7b-7933-9940-2dd0960a2f94")],
)
def test_the_uuid_of_a_callback_is_the_same_in_every_version(item: int | None, uuid: str) -> None:
    """Another derivation would insert the callbacks of an end again after an upgrade."""
    assert str(callback_uuid(ended(run=2), "configured", "done", item)) == uuid


def test_a_name_that_utf_8_cannot_encode_has_a_uuid_too() -> None:
    assert callback_uuid(ended(), "own 0", "\ud800\0", None).version == 7


def sized(count: int, size: int) -> list[Planned]:
    """Callbacks of this many bytes each, as `_limited` counts them: 4 for the key and its syntax, 2 for the quotes."""
    planned = planned_of(ended(), [callback(name=f"c{n}") for n in range(count)], None)
    return [replace(each, parameters={"": "x" * (size - 6)}) for each in planned]


@pytest.mark.parametrize(
    ("most", "largest", "made"), [(3, 10**6, 3), (2, 10**6, 2), (9, 300, 3), (9, 299, 2)]
)
def test_the_callbacks_of_an_end_are_limited_in_number_and_bytes(most: int, largest: int, made: int) -> None:
    limited = list(_limited(iter(sized(3, 100)), Limits(most, largest, 1.0)))
    assert [each.invalid is None for each in limited] == [True] * made + [False] * (made < 3)
    assert all(each.parameters == {} for each in limited if each.invalid)
