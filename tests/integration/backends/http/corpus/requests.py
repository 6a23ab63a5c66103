"""Parameters that try to become more than values: headers, bodies and templates."""

from typing import Any

from switchyard.handlers import Invalid, Success
from tests.integration.backends.http.corpus.case import Case
from tests.integration.backends.http.servers import says

OK = says(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


def _deep(levels: int) -> list[Any]:
    inner: list[Any] = []
    for _ in range(levels):
        inner = [inner]
    return inner


def _header(name: str, value: Any, error: str) -> Case:
    return Case(
        f"header: {name}",
        Invalid,
        error,
        speak=OK,
        reached=False,
        parameters={"v": value},
        settings={"request": {"headers": {"X-Value": "{{ parameters.v }}"}}},
    )


def _body(name: str, value: Any, error: str, body: Any = "{{ parameters.v }}", **settings: Any) -> Case:
    return Case(
        f"body: {name}",
        Invalid,
        error,
        speak=OK,
        reached=False,
        parameters={"v": value},
        settings={"request": {"body": body}, **settings},
    )


def _template(name: str, text: str, error: str, **parameters: Any) -> Case:
    return Case(
        f"template: {name}",
        Invalid,
        error,
        speak=OK,
        reached=False,
        parameters=parameters,
        settings={"request": {"body": text}},
    )


_HEADERS = [
    _header("carriage return and newline", "a\r\nX-Evil: 1", "no header can carry"),
    _header("newline alone", "a\nX-Evil: 1", "no header can carry"),
    _header("carriage return alone", "a\rX-Evil: 1", "no header can carry"),
    _header("second request", "a\r\n\r\nGET /evil HTTP/1.1\r\n\r\n", "no header can carry"),
    _header("null", "a\0b", "no header can carry"),
    _header("escape sequence", "\x1b[2J", "no header can carry"),
    _header("no latin", "\u4e2d\u6587", "no header can carry"),
    _header("newline in latin 1's clothes", "\u010d\u010a", "no header can carry"),
    _header("lone surrogate", "\ud800", "no header can carry"),
    _header("twenty thousand characters", "x" * 20_000, "at most 16384 go out"),
    _header("infinity", float("inf"), "do not fit"),
    _header("line separator in an object", {"a\u2028": 1}, "no header can carry"),
]
_BODIES = [
    _body("infinity", float("inf"), "do not fit"),
    _body("not a number", [float("nan")], "do not fit"),
    _body("lone surrogate", {"a": "\ud800"}, "do not fit"),
    _body("a hundred thousand levels", _deep(100_000), "nested too deeply"),
    _body("two megabytes", "x" * 2**21, "at most 1048576 go out"),
    _body("over a small limit", "x" * 100, "at most 64 go out", limits={"request_body": "64B"}),
    _body("bytes", b"raw", "do not fit"),
    _body("missing", 1, "has no 'absent'", body="{{ parameters.absent }}"),
    _body("missing deep in a list", 1, "no attribute|has no", body={"a": ["{{ [parameters.absent] }}"]}),
]
_TEMPLATES = [
    _template("class of a text", "{{ ''.__class__.__mro__ }}", "__class__"),
    _template("globals of a value", "{{ parameters.a['__init__']['__globals__'] }}", "__init__", a={}),
    _template("method of a list", "{{ parameters.a.append }}", "append", a=[1]),
    _template("a text repeated", "{{ 'a' * 1000000000 }}", "two numbers"),
    _template("a text formatted wide", "{{ '%1000000000d' % 1 }}", "two numbers"),
    _template("a number of many digits", "{{ parameters.a * parameters.a }}", "too large", a=2**200),
    _template("division by zero", "{{ 1 / parameters.a }}", "do not fit", a=0),
    _template("loops in loops", "{% for a in parameters.a %}{% for b in parameters.a %}{% endfor %}{% endfor %}",
              "more than 100000 steps", a=[1] * 1000),
    _template("output without end", "{% for a in parameters.a %}{{ parameters.b }}{% endfor %}", "do not fit",
              a=[1] * 1000, b="x" * 100_000),
    _template("text doubled", "{% set a = parameters.a %}" + "{% set a = a ~ a %}" * 40 + "{{ a }}", "longer than",
              a="x" * 1000),
    _template("join", "{{ parameters.a | join(parameters.b) }}", "longer than", a=[1] * 1000, b="x" * 100_000),
    _template("replace", "{{ parameters.a | replace('x', parameters.a) }}", "longer than", a="x" * 100_000),
    _template("a secret that is not there", "{{ secrets.other }}", "has no 'other'"),
    _template("addition of a text and a number", "{{ parameters.a + 1 }}", "do not fit", a="1"),
]  # fmt: skip
_HARMLESS = [
    Case("parameter: template in a value stays text", Success, "", speak=OK, parameters={"v": "{{ 7 * 7 }}"},
         settings={"request": {"body": {"v": "{{ parameters.v }}"}}}),
    Case("parameter: correlation id with newlines is escaped", Success, "", speak=OK, correlation_id="a\r\nX: y"),
    Case("parameter: correlation id of no Unicode is escaped", Success, "", speak=OK, correlation_id="\ud800"),
    Case("url: fragment is not sent", Success, "", speak=OK, url="http://127.0.0.1:{port}/hook#fragment"),
]  # fmt: skip

CASES = [*_HEADERS, *_BODIES, *_TEMPLATES, *_HARMLESS]
