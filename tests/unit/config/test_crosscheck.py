"""What one part names, another must have, and must be able to do."""

import pytest

from switchyard.backends.local.model import LocalAction
from switchyard.config import Problem
from tests.unit.config.reading import problems

PARTS = """
actions:
  hook: {type: http, request: {url: 'https://a.example', headers: {X-Api-Key: '{{ secrets.key }}'}}}
  argo: {type: argo, namespace: w}
  queue: {type: sqs, status_queue: s}
  steps: {type: cirrus}
  shell: {type: local}
  nothing: {type: noop}
secrets: {key: env:KEY}
workflows:
  good: {action: argo, template: t}
"""


def found(more: str) -> list[Problem]:
    return problems(PARTS + more)


def test_the_parts_alone_are_good() -> None:
    assert found("") == []


@pytest.mark.parametrize(
    ("workflow", "path", "said"),
    [
        ("{action: agro, template: t}", "action", "there is no action 'agro' (did you mean 'argo'?)"),
        ("{action: zzz, template: t}", "action", "there are hook, argo, queue"),
        ("{action: hook}", "action", "'hook' is of type http, which runs no workflows"),
        ("{action: argo}", "template", "is missing: the WorkflowTemplate that argo runs"),
        ("{action: queue}", "template", "is missing: the queue"),
        ("{action: steps}", "template", "is missing: the state machine"),
        ("{action: shell}", "template", "is missing: the command"),
        ("{action: argo, template: Not_A_Name}", "template", "not the WorkflowTemplate that type argo needs"),
        ("{action: argo, template: [a, b]}", "template", "not the WorkflowTemplate"),
        ("{action: steps, template: mosaic}", "template", "like arn:aws:states:eu-west-2"),
        ("{action: queue, template: 'a queue'}", "template", "is not the queue"),
        ("{action: shell, template: 'a \"b'}", "template", "is not the command"),
        ("{action: nothing, template: t}", "template", "type noop has no templates: leave it out"),
        ("{action: shell, manifest: {spec: {templates: []}}}", "manifest", "is for actions of type argo"),
        ("{action: argo, manifest: {kind: Pod, spec: {}}}", "manifest", "is of kind Workflow"),
        ("{action: argo, manifest: {spec: {}}}", "manifest", "has a spec with templates"),
        ("{action: argo, manifest: no-such.yaml}", "manifest", "no-such.yaml: cannot be read"),
        ("{action: argo, manifest: [1]}", "manifest", "or the path of its YAML or JSON file"),
        (
            "{action: nothing, callbacks: [{name: c, action: hok}]}",
            "callbacks[0].action",
            "no action 'hok' (did you mean 'hook'?)",
        ),
        (
            "{action: nothing, callbacks: [{name: c, action: argo}]}",
            "callbacks[0].action",
            "runs workflows: name one with workflow",
        ),
        (
            "{action: nothing, callbacks: [{name: c, action: argo, workflow: god}]}",
            "callbacks[0].workflow",
            "there is no workflow 'god' (did you mean 'good'?)",
        ),
        (
            "{action: nothing, callbacks: [{name: c, action: shell, workflow: good}]}",
            "callbacks[0].action",
            "runs on 'argo': write action: argo",
        ),
    ],
)
def test_a_workflow(workflow: str, path: str, said: str) -> None:
    (problem,) = found(f"  bad: {workflow}\n")
    assert problem.dotted == f"workflows.bad.{path}"
    assert said in problem.message
    assert problem.place is not None
    assert problem.place.line == PARTS.count("\n") + 1
    assert not problem.warning


@pytest.mark.parametrize(
    "workflow",
    [
        "{action: argo, manifest: {spec: {templates: []}}}",
        "{action: queue, template: jobs.fifo}",
        "{action: steps, template: 'arn:aws:states:eu-west-2:123456789012:stateMachine:m'}",
        "{action: shell, template: [assessment, run]}",
        "{action: shell, template: assessment run --quiet}",
        "{action: nothing}",
    ],
)
def test_templates_that_their_types_take(workflow: str) -> None:
    assert found(f"  also: {workflow}\n") == []


@pytest.mark.parametrize(
    "kind", ["argo, namespace: n", "sqs, status_queue: s", "cirrus", "local", "cirrus_task"]
)
def test_at_most_once_is_refused_where_it_means_nothing(kind: str) -> None:
    (problem,) = problems(f"actions: {{a: {{type: {kind}, delivery: at_most_once}}}}")
    assert problem.dotted == "actions.a.delivery"
    assert "is for http and noop" in problem.message


def test_at_most_once_is_for_http_and_noop() -> None:
    text = "actions: {a: {type: noop, delivery: at_most_once}, "
    text += "b: {type: http, delivery: at_most_once, request: {url: 'https://a.example'}}}"
    assert problems(text) == []


def test_a_breaker_needs_no_rate() -> None:
    """Conductor lowers the number of dispatches in flight instead."""
    assert problems("actions: {a: {type: noop, breaker: {patterns: [{status: 429}]}}}") == []


@pytest.mark.parametrize(
    "where",
    ["url: 'https://{{ secrets.kex }}'", "url: 'https://a', body: {x: ['{{ secrets[''kex''] }}']}"],
)
def test_a_template_names_a_secret_that_is_configured(where: str) -> None:
    (problem,) = problems(f"actions: {{a: {{type: http, request: {{{where}}}}}}}\nsecrets: {{key: env:KEY}}")
    assert "there is no secret 'kex' (did you mean 'key'?)" in problem.message
    assert problem.dotted.startswith("actions.a.request.")


def test_a_rule_behind_one_that_matches_everything_is_worth_a_warning() -> None:
    (problem,) = problems("""
        actions:
          a:
            type: http
            request: {url: 'https://a.example'}
            responses: [{outcome: failed}, {status: 200, outcome: success}]
    """)
    assert problem.warning
    assert problem.dotted == "actions.a.responses[1]"


def test_workflows_that_chain_in_a_circle_are_worth_a_warning() -> None:
    warnings = problems("""
        actions: {n: {type: noop}}
        workflows:
          a: {action: n, callbacks: [{name: x, action: n, workflow: b}]}
          b: {action: n, callbacks: [{name: x, action: n, workflow: c}, {name: y, action: n, workflow: d}]}
          c: {action: n, callbacks: [{name: x, action: n, workflow: a}]}
          d: {action: n}
    """)
    assert all(problem.warning for problem in warnings)
    assert [problem.dotted for problem in warnings] == [
        f"workflows.{name}.callbacks[0].workflow" for name in ("a", "b", "c")
    ]


def test_nothing_served_is_worth_a_warning() -> None:
    from switchyard.config.crosscheck import crosscheck
    from switchyard.config.parts import Parts

    (problem,) = crosscheck(Parts({}, {}, frozenset(), {}))
    assert problem.warning
    assert "nothing is served" in problem.message


@pytest.mark.parametrize(
    ("template", "argv"),
    [("a 'b c' --d", ("a", "b c", "--d")), (("a", "b c"), ("a", "b c")), (None, ("default", "command"))],
)
def test_a_command_is_words_however_it_is_written(
    template: str | tuple[str, ...] | None, argv: object
) -> None:
    assert LocalAction(command=("default", "command")).argv(template) == argv


def test_no_command_at_all() -> None:
    assert LocalAction().argv(None) is None


@pytest.mark.parametrize(
    ("kind", "advice"),
    [
        ("sqs, status_queue: s", "for sqs: a queue delivers at least once"),
        ("local", "for local: its name makes it run once"),
        ("cirrus_task", "for cirrus_task: leave delivery out"),
    ],
)
def test_mission_b6_at_most_once_is_refused_with_the_truth_about_the_type(kind: str, advice: str) -> None:
    (problem,) = problems(f"actions: {{a: {{type: {kind}, delivery: at_most_once}}}}")
    assert advice in problem.message


def test_newuser_5_a_callback_without_what_its_type_needs_is_refused() -> None:
    text = """
        actions: {n: {type: noop}, publish: {type: stac, url: 'https://stac.example', collection: c}}
        workflows:
          w: {action: n, callbacks: [{name: x, action: publish, parameters: {NAME: {path: $.item}}}]}
    """
    (problem,) = problems(text.replace("NAME", "feature"))
    assert problem.dotted == "workflows.w.callbacks[0].parameters"
    assert problem.message == "'item' is missing, which type stac needs"
    assert problems(text.replace("NAME", "item")) == []


@pytest.mark.parametrize(
    ("steps", "path", "said"),
    [
        ("{a: {workflow: god}}", "steps.a.workflow", "no workflow 'god' (did you mean 'good'?)"),
        ("{a: {action: nothin}}", "steps.a.action", "no action 'nothin' (did you mean 'nothing'?)"),
        ("{a: {action: argo}}", "steps.a.action", "which runs workflows: give workflow instead"),
        ("{a: {action: nothing, after: [b]}}", "steps.a.after[0]", "there is no step 'b'"),
        (
            "{one: {workflow: good, inputs: {x: {from: on, path: $.output}}}}",
            "steps.one.inputs.x.from",
            "there is no step 'on' (did you mean 'one'?)",
        ),
        (
            "{a: {action: nothing}, b: {workflow: good, inputs: {x: {from: a, path: $.output}}}}",
            "steps.b.inputs.x.from",
            "step 'a' runs no workflow, and so has no output",
        ),
        (
            "{a: {workflow: good}, b: {action: nothing, inputs: {x: {from: a, path: $.output}}}}",
            "steps.b.inputs",
            "only a step with a workflow takes outputs of others",
        ),
        (
            "{a: {workflow: good, after: [b]}, b: {workflow: good, inputs: {x: {from: a, path: $.output}}}}",
            "steps",
            "these wait for each other: a -> b -> a",
        ),
        ("{a: {workflow: good, after: [a]}}", "steps", "these wait for each other: a -> a"),
        ("{a: {workflow: bad}}", "steps", "'bad' is a step of itself"),
        ("{output: {workflow: good}}", "steps.output", "reserved for the workflow's own output"),
    ],
)
def test_a_workflow_with_steps(steps: str, path: str, said: str) -> None:
    (problem,) = found(f"  bad: {{steps: {steps}}}\n")
    assert problem.dotted == f"workflows.bad.{path}"
    assert said in problem.message


def test_a_workflow_that_is_a_step_of_its_step() -> None:
    text = "  one: {steps: {a: {workflow: two}}}\n  two: {steps: {a: {workflow: one}}}\n"
    assert [problem.dotted for problem in found(text)] == ["workflows.one.steps", "workflows.two.steps"]


def test_steps_of_several_kinds_are_good() -> None:
    steps = "{a: {workflow: good}, b: {action: nothing, after: [a], policy: ended}, c: {workflow: good, inputs: {x: {from: a, path: $.output.x}}}}"
    assert found(f"  whole: {{steps: {steps}, output: {{x: {{from: c, path: $.output.x}}}}}}\n") == []


@pytest.mark.parametrize(
    ("action", "path", "said"),
    [
        ("graph: {type: noop}", "actions.graph", "'graph' is reserved"),
        ("campaign: {type: noop}", "actions.campaign", "'campaign' is reserved"),
        ("other: {type: graph}", "actions.other.type", "the only action of type graph is called 'graph'"),
    ],
)
def test_names_that_are_reserved(action: str, path: str, said: str) -> None:
    (problem,) = problems(f"actions:\n  {action}\n")
    assert (problem.dotted, said in problem.message) == (path, True)
