"""Templates keep JSON values as they are, see keys only, call nothing and cannot grow."""

import math
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from switchyard.backends.http.template import Template, TemplateFaultError
from switchyard.config.sandbox import as_json
from switchyard.errors import ConfigError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def names(**parameters: Any) -> dict[str, Any]:
    return {"parameters": parameters, "action": {"uuid": "u-1"}, "secrets": {"partner": "s3cret"}}


def render(source: Any, **parameters: Any) -> Any:
    return Template(source, "request.body").render(names(**parameters))


@given(JSON)
def test_json_values_stay_json(value: Any) -> None:
    assert render("{{ parameters.value }}", value=value) == value
    assert render({"a": ["{{ parameters.value }}"]}, value=value) == {"a": [value]}
    assert render("{{ [parameters.value][0] }}", value=value) == value


@given(st.text())
def test_a_text_is_never_read_as_anything_else(text: str) -> None:
    assert render("{{ parameters.text }}", text=text) == text
    assert render("<{{ parameters.text }}>", text=text) == f"<{text}>"


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("plain", "plain"),
        ({"n": 1, "deep": [None, True]}, {"n": 1, "deep": [None, True]}),
        ("total {{ parameters.total }}", "total 12"),
        ("{{ parameters.total }} ", "12 "),
        ("{{ parameters.items }}", [1, 2]),
        ("{{ parameters.keys }}", "k"),
        ("{{ parameters.flag }}!", "true!"),
        ("{{ parameters.none }}!", "null!"),
        ("{{ parameters.object }}!", '{"a":[1]}!'),
        ("{{ parameters.object.a[0] + 1 }}", 2),
        ("{{ parameters.missing | default('d') }}", "d"),
        ("{{ 'many' if parameters.total > 10 else 'few' }}", "many"),
        ("{% for item in parameters.items %}{{ item }};{% endfor %}", "1;2;"),
        ("{{ parameters.items | map('string') | join('-') }}", "1-2"),
        ("{{ parameters.total ~ '/' ~ true }}", "12/true"),
        ("{{ parameters | tojson | length > 10 }}", True),
        ("{{ 'a-b' | replace('-', '+') }}", "a+b"),
        ("{% raw %}{{ no }}{% endraw %}", "{{ no }}"),
    ],
)
def test_rendered(source: Any, value: Any) -> None:
    data = {"total": 12, "items": [1, 2], "keys": "k", "flag": True, "none": None, "object": {"a": [1]}}
    assert render(source, **data) == value


@pytest.mark.parametrize(
    "source",
    [
        "{{ parameters.missing }}",
        "{{ parameters['missing'] }}",
        "{{ parameters.none.deeper }}",
        "{{ parameters.text.upper }}",
        "{{ parameters.__class__ }}",
        "{{ ''.__class__.__mro__ }}",
        "{{ parameters['__init__']['__globals__'] }}",
        "{{ secrets.other }}",
        "{{ 'a' * 1000000000 }}",
        "{{ [1] * 1000000000 }}",
        "{{ '%1000000000d' % 1 }}",
        "{{ 1 / 0 }}",
        "{{ parameters.text + 1 }}",
        "{{ parameters.large * parameters.large * parameters.large }}",
        "{% for a in parameters.many %}{% for b in parameters.many %}x{% endfor %}{% endfor %}",
        "{{ parameters.many | join(parameters.long) | length }}",
        "{{ parameters.long | replace('x', parameters.long) }}",
        "{% for a in parameters.many %}{{ parameters.long }}{% endfor %}",
        "{% set a = parameters.long %}" + "{% set a = a ~ a %}" * 40 + "{{ a }}",
        "{% set a = parameters.long %}" + "{% set a = a + a %}" * 40 + "{{ a }}",
    ],
)
def test_a_fault_of_the_values(source: str) -> None:
    data = {"none": None, "text": "t", "large": 2**200, "many": ["m"] * 1000, "long": "x" * 100_000}
    with pytest.raises(TemplateFaultError, match=r"^request\.body: "):
        render(source, **data)


@pytest.mark.parametrize(
    "source",
    [
        "{{ parameters.items() }}", "{{ range(1000000000) }}", "{{ lipsum(1000) }}", "{{ cycler('a') }}",
        "{{ 9 ** 9 ** 9 }}", "{% include 'other' %}", "{% import 'os' as os %}", "{% extends 'x' %}",
        "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "{% block a %}{% endblock %}",
        "{{ self._x }}{{ self() }}",
        "{{ parameters | attr('__class__') }}", "{{ 'x' | format(1) }}", "{{ 'x' | center(1000000000) }}",
        "{{ open('/etc/passwd') }}", "{{ ''.format(1) }}", "{% call x() %}{% endcall %}",
        "{% set ns.a = 1 %}", "{{ unclosed", "{% if %}", "{{ 1 | nofilter }}", "{{ 1 is notest }}",
        "{% for a in parameters.x recursive %}{{ loop(a) }}{% endfor %}",
        "{{ '" + "(" * 5000 + "' }}{{" + "(" * 5000,
    ],
)  # fmt: skip
def test_a_template_that_is_refused_before_it_runs(source: str) -> None:
    with pytest.raises(ConfigError, match=r"^request\.body: "):
        Template(source, "request.body")


def test_what_uses_secrets_is_known() -> None:
    assert Template({"a": ["Bearer {{ secrets.partner }}"]}, "x").secret
    assert not Template("{{ parameters.secrets }}", "x").secret


def test_lazy_filters_become_lists() -> None:
    assert as_json(render("{{ parameters.n | map('string') }}", n=[1, 2])) == '["1","2"]'


def test_an_error_names_the_key_and_never_a_value() -> None:
    with pytest.raises(TemplateFaultError) as error:
        render("{{ parameters.person.phone.home }}", person={"name": "hidden-value"})
    assert str(error.value) == "request.body: parameters.person has no 'phone'"


@pytest.mark.parametrize(
    "source",
    [
        "{{ parameters.x | round(parameters.n, 'floor') }}",
        "{{ parameters.text | truncate(2) }}",
        "{{ parameters.many | map('upper') | list }}",
        "{{ parameters.many | select('string') | list }}",
        "{{ parameters.many | sort }}",
    ],
)
def test_security_l10_what_takes_long_or_fails_within_jinja_is_a_fault_of_the_values(source: str) -> None:
    began = time.process_time()
    with pytest.raises(TemplateFaultError):
        render(source, x=1.5, n=10**9, text="abcdefgh", many=["a"] * 300_000)
    assert time.process_time() - began < 2


def test_filters_over_a_few_values_work_as_ever() -> None:
    assert render("{{ parameters.x | round(2) }}", x=1.234) == 1.23
    assert render("{{ parameters.names | map('upper') | join(',') }}", names=["a", "b"]) == "A,B"
    assert render("{{ parameters.names | sort | first }}", names=["b", "a"]) == "a"
    assert render(
        "{{ parameters.rows | selectattr('ok') | map(attribute='n') | list }}",
        rows=[{"ok": True, "n": 1}, {"ok": False, "n": 2}],
    ) == [1]


@pytest.mark.parametrize(
    ("source", "rendered"),
    [
        ("{% if not parameters.no %}a{% else %}b{% endif %}", "a"),
        ("{% if parameters.n is odd %}a{% elif parameters.n is even %}b{% endif %}", "a"),
        ("{% if parameters.n is not none and parameters.n > 2 or false %}a{% endif %}", "a"),
        ("{{ parameters.n - 1 }} {{ -parameters.n }} {{ +parameters.n }}", "2 -3 3"),
        (
            "{{ parameters.n / 2 }} {{ parameters.n // 2 }} {{ parameters.n % 2 }} {{ parameters.n * 2 }}",
            "1.5 1 1 6",
        ),
        ("{{ 'a b/ü' | urlencode }}", "a%20b/%C3%BC"),
        ("{{ [3, 1, 2] | min }} {{ [3, 1, 2] | max }} {{ '2.5' | float }} {{ '7' | int }}", "1 3 2.5 7"),
        ("{{ 'abcdefgh' | truncate(length=5, end='…', leeway=0) }}", "abcd…"),
        ("{{ parameters.list | selectattr('on') | map(attribute='n') | join(', ') }}", "1, 3"),
        ("{{ parameters.list | rejectattr('on') | map(attribute='n') | join }}", "2"),
        ("{{ 'a' if parameters.n in [1, 2, 3] else 'b' }}", "a"),
        (
            "{% set x = parameters.n ~ '!' %}{{ x }} {{ 'abc'[1:] }} {{ (1, 2)[0] }} {{ {'k': 5}['k'] }}",
            "3! bc 1 5",
        ),
        (
            "{{ [2, 1, 2] | unique | sort | first }} {{ [1, 2] | last }} {{ -1.26 | abs | round(1) }}",
            "1 2 1.3",
        ),
        ("{{ parameters.missing | default('d') }} {{ parameters.missing | d('e') }}", "d e"),
        (
            "{{ 'aB' | upper }} {{ 'aB' | lower }} {{ 'a b' | title }} {{ ' a ' | trim }} {{ 5 | string }}",
            "AB ab A B a 5",
        ),
        (
            "{% for k, v in {'a': 1} | items %}{{ k }}={{ v }}{% endfor %} {{ 'abc' | list | length }}",
            "a=1 3",
        ),
        ("{{ [0, 1] | select | list | tojson }} {{ [0, 1] | reject | list | tojson }}", "[1] [0]"),
    ],
)
def test_mutation_25_what_a_template_may_use(source: str, rendered: str) -> None:
    items = [{"n": 1, "on": True}, {"n": 2, "on": False}, {"n": 3, "on": True}]
    assert render(f"<{source}>", n=3, no=False, list=items) == f"<{rendered}>"


@pytest.mark.parametrize("number", [math.inf, -math.inf, math.nan])
def test_a_number_that_is_not_json_is_an_error(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        as_json({"a": [number]})
