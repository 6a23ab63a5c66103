"""Each error says where it is, what is wrong and what to write instead; all of them at once."""

import re
from pathlib import Path

import pytest

from switchyard.backends.noop.model import NoopAction
from switchyard.config import Config
from switchyard.config.breaker import Breaker, BreakerPattern
from switchyard.config.load import load
from switchyard.config.manifests import Manifest
from switchyard.config.problems import InvalidConfig, Place, Problem
from switchyard.config.schemas import JsonSchema
from switchyard.config.secrets import SecretRef
from switchyard.config.workflows import Workflow
from tests.unit.config.reading import NOOP, problems, read

CALLBACK = NOOP + "workflows: {w: {action: n, callbacks: [{name: a, action: n, "
HTTP = "actions:\n  w:\n    type: http\n    request: {url: 'https://a.example'}\n"


@pytest.mark.parametrize(
    ("text", "where", "path", "said"),
    [
        ("conductor: {bacth: 3}", "1:13", "conductor.bacth", "unknown key (did you mean 'batch'?)"),
        ("conductr: {}", "1:1", "conductr", "did you mean 'conductor'?"),
        (HTTP + "    retry: {attemps: 3}", "5:13", "actions.w.retry.attemps", "did you mean 'attempts'?"),
        (
            HTTP + "    zzzzzz: 3",
            "5:5",
            "actions.w.zzzzzz",
            "unknown key; there are allow_hosts, allow_networks",
        ),
        ("database: {schema_name: a}", "1:12", "database.schema_name", "did you mean 'schema'?"),
        (HTTP + "    rate: {limit: x}", "5:12", "actions.w.rate.limit", "a rate is written like"),
        ("actions: {a: {type: 5}}", "1:11", "actions.a", "type is missing: it is one of argo"),
        (
            "actions: {s: {type: sqs, status_queue: s, endpoint: 'ftp://h'}}",
            "1:43",
            "actions.s.endpoint",
            "like https://host",
        ),
        (
            "actions: {s: {type: sqs, status_queue: s, endpoint: 'http://h?a=b'}}",
            "1:43",
            "actions.s.endpoint",
            "no query",
        ),
        (
            "actions: {s: {type: sqs, status_queue: s, endpoint: 'http://h:99999'}}",
            "1:43",
            "actions.s.endpoint",
            "not an address",
        ),
        (
            "actions: {s: {type: sqs, status_queue: s, endpoint: 'http://h h'}}",
            "1:43",
            "actions.s.endpoint",
            "no spaces",
        ),
        (
            r"""actions: {s: {type: sqs, status_queue: s, endpoint: "http://h/\x7f"}}""",
            "1:43",
            "actions.s.endpoint",
            "control characters",
        ),
        ("actions: {s: {type: local, spool: '~nobody-here/x'}}", "1:28", "actions.s.spool", "no home folder"),
        ("actions: {s: {type: local, env: {'A-B': c}}}", "1:34", "actions.s.env.A-B", "is not written right"),
        ("actions: {s: {type: local, command: []}}", "1:28", "actions.s.command", "must not be empty"),
        ("conductor: 5", "1:1", "conductor", "must be a mapping"),
        ("conductor: {batch: many}", "1:13", "conductor.batch", "must be a valid integer"),
        ("conductor: {batch: 0}", "1:13", "conductor.batch", "must be at least 1"),
        ("workers: {max_lost_ratio: .5, min_lost: x}", "1:31", "workers.min_lost", "integer"),
        ("actions: {a: {type: htpp}}", "1:11", "actions.a", "did you mean 'http'?"),
        ("actions: {a: {}}", "1:11", "actions.a", "type is missing"),
        ("actions: {a: noop}", "1:11", "actions.a", "an action is a mapping"),
        ("actions: {a: {type: http}}", "1:11", "actions.a.request", "is missing (the request to send)"),
        ("actions: {a: {type: argo}}", "1:11", "actions.a.namespace", "is missing"),
        ("actions: {'a b': {type: noop}}", "1:11", "actions.a b", "is not written right"),
        (NOOP + "workflows: {w: {}}", "2:13", "workflows.w", "give either action, which runs it, or steps"),
        ("log: {level: loud}", "1:7", "log.level", "must be 'debug', 'info', 'warning' or 'error'"),
        ("log: {level: inf}", "1:7", "log.level", "did you mean 'info'?"),
        ("store: /var/lib", "1:1", "store", "file:///var/lib/switchyard or s3://"),
        ("store: s3://", "1:1", "store", "a store is written like"),
        (
            "database: {schema: other}",
            "1:12",
            "database.schema",
            "put a second ledger into a second database",
        ),
        ("database: {url: nonsense}", "1:12", "database.url", "a database is written like"),
        ("workers: {beat: 20s}", "1:1", "workers", "lost_after must be at least twice beat"),
        ("correlation_header: 'a b'", "1:1", "correlation_header", "is not written right"),
        ("- a\n- b\n", "1:1", "", "must be a mapping of sections"),
        (HTTP + "    retry: {base: 5m, max: 1m}", "5:5", "actions.w.retry", "base is longer than max"),
        (
            HTTP + "    allow_networks: [10.0.0.1/8]",
            "5:22",
            "actions.w.allow_networks[0]",
            "like 10.20.0.0/16",
        ),
        (
            HTTP + "    allow_hosts: ['https://a.example']",
            "5:19",
            "actions.w.allow_hosts[0]",
            "without scheme",
        ),
        (HTTP + "    timeouts: {total: 5m}", "2:3", "actions.w", "timeouts.total is longer than timeout"),
        (HTTP + "    tls: {certificate: env:A}", "5:5", "actions.w.tls", "both certificate and key"),
        (HTTP + "    auth: {bearer: env:A, user: b}", "5:5", "actions.w.auth", "both user and password"),
        (HTTP + "    auth: {}", "5:5", "actions.w.auth", "give either bearer, or user and password"),
        (HTTP + "    responses: []", "5:5", "actions.w.responses", "must not be empty"),
        (HTTP + "    responses: {}", "5:5", "actions.w.responses", "must be a list"),
        (
            HTTP + "    responses: [{matches: '(', outcome: failed}]",
            "5:18",
            "actions.w.responses[0].matches",
            "the regular expression does not compile",
        ),
        (
            HTTP + "    responses: [{path: '$.a[', outcome: failed}]",
            "5:18",
            "actions.w.responses[0].path",
            "the JSONPath does not parse",
        ),
        (
            HTTP + "    responses: [{path: 'a', outcome: failed}]",
            "5:18",
            "actions.w.responses[0].path",
            "a JSONPath starts with $",
        ),
        (
            HTTP + "    rate: {limit: 1/s}\n    breaker: {patterns: [{}]}",
            "6:26",
            "actions.w.breaker.patterns[0]",
            "would match every error",
        ),
        (
            "actions: {w: {type: http, request: {url: '{{ a'}}}",
            "1:37",
            "actions.w.request.url",
            "the template does not parse",
        ),
        (
            "actions: {w: {type: http, request: {url: '{{ params.x }}'}}}",
            "1:37",
            "actions.w.request.url",
            "'params', which nothing defines here",
        ),
        (
            "actions: {w: {type: http, request: {url: 'https://a', body: {x: ['{{ action.id }}']}}}}",
            "1:55",
            "actions.w.request.body",
            "an action has no 'id'",
        ),
        (
            "actions: {s: {type: stac, url: 'https://a', collection: '{{ secrets.x }}'}}",
            "1:45",
            "actions.s.collection",
            "'secrets', which nothing defines here",
        ),
        (
            "actions: {s: {type: local, command: 'a \"b'}}",
            "1:28",
            "actions.s.command",
            "cannot be split into words",
        ),
        (
            CALLBACK + "when: [Failed]}]}}",
            "2:68",
            "workflows.w.callbacks[0].when[0]",
            "did you mean 'failed'?",
        ),
        (
            CALLBACK + "when: [RUNNING]}]}}",
            "2:68",
            "workflows.w.callbacks[0].when[0]",
            "is not a final status",
        ),
        (
            CALLBACK + "when: [failed], when_not: [failed]}]}}",
            "2:40",
            "workflows.w.callbacks[0]",
            "either when or when_not",
        ),
        (
            CALLBACK + "when_not: [failed, SUCCESSFUL]}]}}",
            "2:40",
            "workflows.w.callbacks[0]",
            "nothing is left to follow",
        ),
        (
            CALLBACK + "items: '$.x'}]}}",
            "2:40",
            "workflows.w.callbacks[0]",
            "items needs for: items",
        ),
        (
            CALLBACK + "input: {path: '$'}}]}}",
            "2:40",
            "workflows.w.callbacks[0]",
            "input is for a chained workflow",
        ),
        (
            CALLBACK + "parameters: {x: {}}}]}}",
            "2:74",
            "workflows.w.callbacks[0].parameters.x",
            "either value (a literal) or path",
        ),
        (
            NOOP + "workflows: {w: {action: n, callbacks: [{name: a, action: n}, {name: a, action: n}]}}",
            "2:13",
            "workflows.w",
            "two callbacks are called 'a'",
        ),
        (
            NOOP + "workflows: {w: {action: n, input_schema: no-such.json}}",
            "2:28",
            "workflows.w.input_schema",
            "no-such.json cannot be read: No such file",
        ),
        (
            NOOP + "workflows: {w: {action: n, input_schema: {type: objekt}}}",
            "2:28",
            "workflows.w.input_schema",
            "not a valid JSON Schema at $.type",
        ),
        (
            NOOP + "workflows: {w: {action: n, output_schema: {$ref: 'https://elsewhere.example/a'}}}",
            "2:28",
            "workflows.w.output_schema",
            "not in the same document",
        ),
    ],
)
def test_one_problem(text: str, where: str, path: str, said: str) -> None:
    (problem,) = problems(text)
    assert str(problem.place) == f"s.yaml:{where}"
    assert problem.dotted == path
    assert said in problem.message


def test_all_problems_show_at_once_in_the_order_of_the_file() -> None:
    found = problems("""
        conductor: {bacth: 3, poll: 30}
        actions:
          a: {type: http}
          b: {type: noop, delivery: never}
        workflows:
          w: {action: c, timeout: soon, callbacks: [{name: x, action: d, when: [Failed]}]}
        secrets: {s: hunter2}
    """)
    assert [problem.dotted for problem in found] == [
        "conductor.bacth",
        "conductor.poll",
        "actions.a.request",
        "actions.b.delivery",
        "workflows.w.action",
        "workflows.w.timeout",
        "workflows.w.callbacks[0].action",
        "workflows.w.callbacks[0].when[0]",
        "secrets.s",
    ]


@pytest.mark.parametrize("section", ["conductor", "caboose", "database"])
def test_mission_b11_a_pause_that_had_no_effect_is_an_unknown_key(section: str) -> None:
    (problem,) = problems(f"{section}: {{backoff_polling_interval: 60s}}")
    assert problem.dotted == f"{section}.backoff_polling_interval"
    assert "unknown key" in problem.message


def test_a_problem_reads_as_one_line() -> None:
    (problem,) = problems("conductor: {bacth: 3}")
    assert str(problem) == "s.yaml:1:13: conductor.bacth: unknown key (did you mean 'batch'?)"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("actions: {n: {type: noop, breaker: {patterns: [{error: 5}]}}}", "a regular expression is a text"),
        ("actions: {n: {type: noop, rate: {limit: 1/s, brst: 3}}}", "rate.brst: unknown key (did you mean 'burst'?)"),
        ("actions: {n: {type: noop, rate: {limit: 1/s, burst: -3}}}", "rate.burst: must be at least 1"),
        ("actions: {n: {type: noop, concurrency: 1." + "5" * 400 + "}}", "this is not a number that can be used"),
        (r'database: {url: "a\0b"}', "database.url: a NUL character is not allowed"),
        ('workflows: {w: {action: n, input_schema: {"$schema": []}}}', "not a JSON Schema that can be used (TypeError)"),
        ('workflows: {w: {action: n, input_schema: {"$schema": 5}}}', "not a JSON Schema that can be used (AttributeError)"),
    ],
)  # fmt: skip
def test_what_is_odd_is_a_problem_and_no_crash(text: str, said: str) -> None:
    assert any(said in str(problem) for problem in problems(text))


def test_a_file_of_nothing_is_an_empty_configuration() -> None:
    assert read("---\n") == Config()


def test_a_path_that_no_file_can_have(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfig, match="it is not a valid path"):
        load(tmp_path / "a\0b")


def test_what_python_built_is_taken_as_it_is() -> None:
    """Configurations are made of parts in tests and by those who embed us."""
    action = NoopAction(breaker=Breaker(patterns=(BreakerPattern(error=re.compile("x")),)))
    schema, manifest = JsonSchema({"type": "object"}), Manifest({"spec": {"templates": []}})
    config = Config(
        actions={"n": action},
        workflows={"w": Workflow(action="n", input_schema=schema, manifest=manifest)},
        secrets={"s": SecretRef("env", "TOKEN")},
    )
    workflow = config.workflows["w"]
    assert config.actions["n"] is action
    assert (workflow.input_schema, workflow.manifest) == (schema, manifest)
    assert str(config.secrets["s"]) == "env:TOKEN"
    assert action.default_template is None


def test_newuser_33_keys_for_anchors_are_allowed_at_the_top() -> None:
    text = """
        x-retry: &retry {attempts: 3}
        actions: {a: {type: noop, retry: *retry}, b: {type: noop, retry: {<<: *retry, base: 2s}}}
    """
    config = read(text)
    assert (config.actions["a"].retry.attempts, config.actions["b"].retry.base) == (3, 2.0)
    assert [problem.dotted for problem in problems("actions: {a: {type: noop, x-retry: 1}}")] == [
        "actions.a.x-retry"
    ]


def test_a_problem_for_programs_has_its_place_or_none() -> None:
    problem = Problem(("actions", "a", 0), "is wrong")
    known = {"severity": "error", "path": "actions.a[0]", "message": "is wrong"}
    assert problem.as_json() == {**known, "source": "", "line": None, "column": None}
    placed = problem.at(Place("f.yaml", 3, 5))
    assert placed.as_json() == {**known, "source": "f.yaml", "line": 3, "column": 5}
