"""Which ends a callback follows, and what it takes along."""

import pytest

from switchyard.config import Callback, Value
from switchyard.status import ENDS, Status
from tests.unit.config.reading import problems, read

FAILURES = ENDS - {Status.SUCCESSFUL}


def callback(text: str) -> Callback:
    config = read(f"actions: {{n: {{type: noop}}}}\nworkflows: {{w: {{action: n, callbacks: [{text}]}}}}")
    found = config.workflows["w"].callback("c")
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("", ENDS),
        (", when: [SUCCESSFUL]", {Status.SUCCESSFUL}),
        (", when: [failed]", FAILURES),
        (", when: [FAILED]", {Status.FAILED}),
        (", when: [failed, SUCCESSFUL]", ENDS),
        (", when_not: [failed]", {Status.SUCCESSFUL}),
        (", when_not: [CANCELED, INVALID]", ENDS - {Status.CANCELED, Status.INVALID}),
    ],
)
def test_the_ends_it_follows(text: str, ends: frozenset[Status]) -> None:
    assert callback(f"{{name: c, action: n{text}}}").ends == ends


def test_items_have_a_default_path() -> None:
    assert callback("{name: c, action: n, for: items}").items_path == "$.output.features[*]"
    assert callback("{name: c, action: n, for: items, items: '$.output.x[?@.y > 0]'}").items_path.endswith(
        "0]"
    )


def test_a_literal_null_is_a_value() -> None:
    parameters = callback(
        "{name: c, action: n, parameters: {a: {value: null}, b: {path: $.x, default: 1}}}"
    ).parameters
    assert parameters["a"].path is None
    assert parameters["a"].model_dump() == {"value": None}
    assert parameters["b"].model_dump() == {"path": "$.x", "default": 1}
    assert Value.model_validate(parameters["b"].model_dump()) == parameters["b"]


@pytest.mark.parametrize("value", ["{value: 1, path: $.x}", "{value: 1, default: 2}", "{default: 2}"])
def test_values_that_contradict_themselves(value: str) -> None:
    (problem,) = problems(
        "actions: {n: {type: noop}}\nworkflows: {w: {action: n, callbacks: "
        f"[{{name: c, action: n, parameters: {{a: {value}}}}}]}}}}"
    )
    assert problem.dotted == "workflows.w.callbacks[0].parameters.a"


def test_a_workflow_knows_its_callbacks_by_name() -> None:
    workflow = read("actions: {n: {type: noop}}\nworkflows: {w: {action: n}}").workflows["w"]
    assert workflow.callback("none") is None


def test_template_and_manifest_are_one_or_the_other() -> None:
    (problem,) = problems("""
        actions: {a: {type: argo, namespace: n}}
        workflows: {w: {action: a, template: t, manifest: {spec: {templates: []}}}}
    """)
    assert problem.message == "give either template or manifest"
