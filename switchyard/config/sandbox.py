"""The template sandbox: templates can read JSON by its keys, choose, repeat and format, nothing else.

Templates are written by an operator, but their values are untrusted. So a template calls nothing, sees no
Python attribute (`parameters.items` is the key "items", never a method), and cannot grow: every loop step
is counted and every operation that makes a text longer is measured first.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jinja2 import StrictUndefined, Undefined, nodes
from jinja2.exceptions import SecurityError
from jinja2.filters import FILTERS
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

STEPS = 100_000  # of all loops of one rendering together
LONGEST = 16 * 2**20  # characters or items that one operation may make
LARGEST = 2**256  # numbers beyond this are a trap, not a total
PRECISION = 100  # digits that a number is rounded to
_LOOPING = frozenset({"map", "select", "reject", "selectattr", "rejectattr", "sort", "unique"})

_FILTERS = (
    "abs", "d", "default", "first", "float", "int", "items", "last", "length", "list", "lower", "map",
    "max", "min", "reject", "rejectattr", "round", "select", "selectattr", "sort", "string", "title",
    "trim", "truncate", "unique", "upper", "urlencode",
)  # fmt: skip

_NODES = (
    nodes.Template, nodes.Output, nodes.TemplateData, nodes.If, nodes.For, nodes.Assign, nodes.Name,
    nodes.Const, nodes.List, nodes.Tuple, nodes.Dict, nodes.Pair, nodes.Keyword, nodes.CondExpr,
    nodes.Filter, nodes.Test, nodes.Getattr, nodes.Getitem, nodes.Slice, nodes.Concat, nodes.Compare,
    nodes.Operand, nodes.And, nodes.Or, nodes.Not, nodes.Neg, nodes.Pos, nodes.Add, nodes.Sub, nodes.Mul,
    nodes.Div, nodes.FloorDiv, nodes.Mod,
)  # fmt: skip


def as_json(value: Any) -> str:
    """Compact JSON; what a lazy filter yields becomes a list, what is not JSON is an error."""
    return _ENCODER.encode(value)


def _listed(value: Any) -> Any:
    if isinstance(value, Undefined):
        str(value)  # a strict undefined raises, with the name that is missing
    if isinstance(value, Iterator):
        return list(value)
    raise TypeError(f"a {type(value).__name__} is not JSON")


_ENCODER = json.JSONEncoder(default=_listed, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _in_text(value: Any) -> Any:
    """How a value looks inside a longer text: JSON stays JSON, so `true`, not `True`."""
    return value if isinstance(value, str | Undefined) else as_json(value)


def _measured(size: int) -> None:
    if size > LONGEST:
        raise SecurityError(f"the template would make something longer than {LONGEST} characters or items")


def _join(values: Iterable[Any], separator: str = "") -> str:
    texts = [str(_in_text(value)) for value in values]
    _measured(sum(map(len, texts)) + len(separator) * len(texts))
    return separator.join(texts)


def _replace(text: str, old: str, new: str) -> str:
    _measured(len(text) + text.count(old) * len(new))
    return text.replace(old, new)


def _round(value: float, precision: int = 0, method: str = "common") -> float:
    if abs(precision) > PRECISION:
        raise SecurityError(f"round takes at most {PRECISION} digits")
    rounded: float = FILTERS["round"](value, precision, method)
    return rounded


class _Metered(NodeTransformer):
    """Puts a counter on every loop and a measure on every concatenation."""

    def visit_For(self, node: nodes.For) -> nodes.For:  # noqa: N802 - Jinja2 dispatches by this name
        self.generic_visit(node)
        node.iter = _filtered(node.iter, "counted")
        return node

    def visit_Filter(self, node: nodes.Filter) -> nodes.Filter:  # noqa: N802 - likewise
        self.generic_visit(node)
        if node.name in _LOOPING and node.node is not None:
            node.node = _filtered(node.node, "counted")
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Filter:  # noqa: N802 - likewise
        self.generic_visit(node)
        return _filtered(nodes.List(node.nodes, lineno=node.lineno), "join")


def _filtered(node: nodes.Node, name: str) -> nodes.Filter:
    return nodes.Filter(node, name, [], [], None, None, lineno=node.lineno)


class Sandbox(ImmutableSandboxedEnvironment):
    """Jinja2 over plain JSON, isolated from Python and limited in size."""

    intercepted_binops = frozenset({"+", "*", "%"})

    def __init__(self) -> None:
        super().__init__(undefined=StrictUndefined, keep_trailing_newline=True, finalize=_in_text)
        self.globals.clear()
        own = {
            "round": _round,
            "join": _join,
            "replace": _replace,
            "tojson": as_json,
            "counted": self._counted,
        }
        self.filters = {name: FILTERS[name] for name in _FILTERS} | own
        self._steps = 0

    def restricted(self, tree: nodes.Template) -> nodes.Template:
        """The tree, metered; a SecurityError where it holds what a template may not do."""
        for node in tree.find_all(nodes.Node):
            problem = self._problem(node)
            if problem is not None:
                raise SecurityError(f"line {node.lineno}: {problem}")
        _Metered().visit(tree)
        tree.set_environment(self)
        return tree

    def _problem(self, node: nodes.Node) -> str | None:
        if not isinstance(node, _NODES) or (isinstance(node, nodes.For) and node.recursive):
            return f"a template cannot use {type(node).__name__.lower()} here"
        if isinstance(node, nodes.Filter) and node.name not in self.filters:
            return f"there is no filter {node.name!r}"
        if isinstance(node, nodes.Test) and node.name not in self.tests:
            return f"there is no test {node.name!r}"
        return None

    def begin(self) -> None:
        """A rendering starts: its steps are counted from 0. Renderings never overlap: they do not wait."""
        self._steps = 0

    def _counted(self, values: Iterable[Any]) -> Iterator[Any]:
        for value in values:
            self._steps += 1
            if self._steps > STEPS:
                raise SecurityError(f"the template takes more than {STEPS} steps")
            yield value

    def getattr(self, obj: Any, attribute: str) -> Any:
        """A key of a JSON object; nothing has attributes."""
        return self.getitem(obj, attribute)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """A key of an object, or a place or a slice of a list or a text."""
        if isinstance(obj, Undefined):
            str(obj)  # raises, and names what was missing first
        if isinstance(obj, Mapping | list | tuple | str):
            try:
                return obj[argument]
            except (LookupError, TypeError, ValueError):
                return self.undefined(obj=obj, name=argument)
        return self.undefined(obj=obj, name=argument)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """`+` joins or adds, `*` and `%` are for numbers, and nothing grows without end."""
        if operator == "+":
            if isinstance(left, str | list) and isinstance(right, str | list):
                _measured(len(left) + len(right))
        elif not (isinstance(left, int | float) and isinstance(right, int | float)):
            raise SecurityError(f"'{operator}' takes two numbers")
        result = super().call_binop(context, operator, left, right)
        if isinstance(result, int) and abs(result) > LARGEST:
            raise SecurityError("the template makes a number that is too large")
        return result
