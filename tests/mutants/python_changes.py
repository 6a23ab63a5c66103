"""Every change of a Python file: comparisons, integers, and/or, not, returned values, calls, guards, and so on.

Annotations, decorators, texts and log lines are left alone: no test has to notice a change there.
"""

import ast
import re
from collections.abc import Iterator

from tests.mutants.change import Change, change

_COMPARISONS: dict[type[ast.cmpop], tuple[str, ...]] = {
    ast.Lt: ("<=", ">="),
    ast.LtE: ("<", ">"),
    ast.Gt: (">=", "<="),
    ast.GtE: (">", "<"),
    ast.Eq: ("!=",),
    ast.NotEq: ("==",),
    ast.Is: ("is not",),
    ast.IsNot: ("is",),
    ast.In: ("not in",),
    ast.NotIn: ("in",),
}
_ARITHMETIC: dict[type[ast.operator], str] = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}
_SWAPPED = {"min": "max", "max": "min", "any": "all", "all": "any"}
_OPERATOR = re.compile(r"is\s+not\b|not\s+in\b|is\b|in\b|[<>=!]=|<|>")
_BRACKETS: dict[type[ast.expr], str] = {ast.Tuple: "({},)", ast.List: "[{}]", ast.Set: "{{{}}}"}
_LOGS = {"log", "_log", "logger"}


def python_changes(file: str, source: bytes) -> list[Change]:
    """All changes of that file that still compile, in the order of their places."""
    found = {(start, end, new) for start, end, new in _Finder(source).find()}
    changes = [change(file, source, start, end, new) for start, end, new in sorted(found)]
    return [each for each in changes if _compiles(each.apply(source))]


def _compiles(source: bytes) -> bool:
    try:
        compile(source, "changed", "exec")
    except SyntaxError:
        return False
    return True


class _Finder:
    def __init__(self, source: bytes) -> None:
        self._source = source
        self._starts = [0]
        for line in source.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))

    def find(self) -> Iterator[tuple[int, int, str]]:
        yield from self._below(ast.parse(self._source))

    def _below(self, node: ast.AST) -> Iterator[tuple[int, int, str]]:
        if _left_alone(node):
            return
        yield from self._of(node)
        for field, value in ast.iter_fields(node):
            if field in ("annotation", "returns", "decorator_list"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from self._below(child)

    def _of(self, node: ast.AST) -> Iterator[tuple[int, int, str]]:
        match node:
            case ast.Compare():
                yield from self._comparison(node)
            case ast.BoolOp():
                yield from self._and_or(node)
            case ast.UnaryOp(op=ast.Not()):
                yield *self._span(node), f"({self._text(node.operand)})"
            case ast.Constant(value=bool(value)):
                yield *self._span(node), str(not value)
            case ast.Constant(value=int(value)):
                yield *self._span(node), str(value + 1)
                yield *self._span(node), str(value - 1)
            case ast.Return(value=ast.expr() as value) if not _is_none(value):
                yield *self._span(value), "None"
            case ast.Expr(value=ast.Call() | ast.Await()):
                yield *self._span(node), "pass"
            case ast.Call(func=ast.Name(id=name) as func) if name in _SWAPPED:
                yield *self._span(func), _SWAPPED[name]
            case ast.BinOp(op=op) if type(op) in _ARITHMETIC and not _textual(node):
                text = f"({self._text(node.left)}) {_ARITHMETIC[type(op)]} ({self._text(node.right)})"
                yield *self._span(node), f"({text})"
            case ast.Tuple() | ast.List() | ast.Set() if len(node.elts) > 1 and all(map(_is_code, node.elts)):
                yield from self._elements(node)
            case ast.If(body=[ast.Raise() | ast.Return() | ast.Continue()], orelse=[]):
                yield *self._span(node), "pass"

    def _comparison(self, node: ast.Compare) -> Iterator[tuple[int, int, str]]:
        operands = [node.left, *node.comparators]
        for index, op in enumerate(node.ops):
            start, end = self._span(operands[index])[1], self._span(operands[index + 1])[0]
            between = self._source[start:end].decode()
            for new in _COMPARISONS[type(op)]:
                yield start, end, _OPERATOR.sub(new, between, count=1)

    def _and_or(self, node: ast.BoolOp) -> Iterator[tuple[int, int, str]]:
        other = "or" if isinstance(node.op, ast.And) else "and"
        parts = [f"({self._text(value)})" for value in node.values]
        yield *self._span(node), f"({f' {other} '.join(parts)})"

    def _elements(self, node: ast.Tuple | ast.List | ast.Set) -> Iterator[tuple[int, int, str]]:
        for left_out in range(len(node.elts)):
            kept = ", ".join(self._text(each) for index, each in enumerate(node.elts) if index != left_out)
            yield *self._span(node), _BRACKETS[type(node)].format(kept)

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return (
            self._starts[node.lineno - 1] + node.col_offset,
            self._starts[node.end_lineno - 1] + node.end_col_offset,
        )

    def _text(self, node: ast.expr) -> str:
        start, end = self._span(node)
        return self._source[start:end].decode()


def _left_alone(node: ast.AST) -> bool:
    match node:
        case ast.JoinedStr() | ast.AnnAssign(value=None) | ast.Assign(targets=[ast.Name(id="__all__")]):
            return True
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
            return name in _LOGS
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
            return name in _LOGS
        case ast.Expr(value=ast.Constant()):
            return True
    return False


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _textual(node: ast.BinOp) -> bool:
    return any(
        isinstance(side, ast.JoinedStr | ast.Tuple | ast.List)
        or (isinstance(side, ast.Constant) and isinstance(side.value, str | bytes))
        for side in (node.left, node.right)
    )


def _is_code(node: ast.expr) -> bool:
    match node:
        case ast.Constant(value=str() | int() | float()):
            return True
        case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name, ctx=ast.Load()):
            return name.isupper() or name[:1].isupper()
    return False
