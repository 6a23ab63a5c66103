"""JSON templates, compiled once. A text that consists of one expression keeps the JSON type of its value.

`"{{ parameters.total }}"` is the number 12, not the text "12"; `"{{ parameters.when }}"` with a text that
looks like a list stays that text. Inside a longer text, values are written as JSON, and texts unchanged.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from jinja2 import TemplateError, Undefined, UndefinedError, nodes
from jinja2.meta import find_undeclared_variables

from switchyard.config.sandbox import LONGEST
from switchyard.config.templates import environment, parse_template
from switchyard.errors import ConfigError
from switchyard.handlers import Work

Names = Mapping[str, Any]
Render = Callable[[Names], Any]

# Errors that hostile values can cause during rendering; all others are bugs of ours and propagate.
FAULTS = (
    *(TemplateError, TypeError, ValueError, LookupError, ArithmeticError, AttributeError, RecursionError),
    AssertionError,  # raised by Jinja's own filters
)
_SANDBOX = environment()


class TemplateFaultError(ValueError):
    """A template cannot be rendered with these values; the message gives the reason and contains no value."""


class Template:
    """A JSON value whose texts are templates."""

    def __init__(self, source: Any, where: str) -> None:
        self.where = where
        self._names: set[str] = set()
        self.of_action: set[str] = set()
        self.whole_action = False
        self._render = self._compiled(source)
        self.secret = "secrets" in self._names
        self.varies = bool(self._names - {"secrets"})

    def render(self, names: Names) -> Any:
        """The rendered value; TemplateFaultError, with place and reason, on failure."""
        _SANDBOX.begin()
        try:
            return self._render(names)
        except FAULTS as fault:
            raise TemplateFaultError(f"{self.where}: {reason(fault)}") from None

    def _compiled(self, source: Any) -> Render:
        if isinstance(source, str):
            return self._text(source)
        if isinstance(source, Mapping):
            items = [(key, self._compiled(value)) for key, value in source.items()]
            return lambda names: {key: render(names) for key, render in items}
        if isinstance(source, list | tuple):
            parts = [self._compiled(value) for value in source]
            return lambda names: [render(names) for render in parts]
        return lambda _names: source

    def _note_action(self, tree: nodes.Template) -> None:
        """Record which of the action's fields are used by name, or that any could be."""
        direct = [
            node.attr
            for node in tree.find_all(nodes.Getattr)
            if isinstance(node.node, nodes.Name) and node.node.name == "action"
        ]
        self.of_action |= set(direct)
        self.whole_action |= _uses(tree, "action") > len(direct)

    def _text(self, source: str) -> Render:
        if not any(mark in source for mark in ("{{", "{%", "{#")):
            return lambda _names: source
        try:
            tree = parse_template(source)
            self._names |= find_undeclared_variables(tree)
            self._note_action(tree)
            return _path(tree) or _program(tree)
        except ValueError as problem:
            raise ConfigError(f"{self.where}: {problem}") from None


def _uses(tree: nodes.Template, name: str) -> int:
    return sum(node.name == name for node in tree.find_all(nodes.Name))


def reason(fault: BaseException) -> str:
    """The reason of a fault, for display: only our own and Jinja's messages, which contain no values."""
    if isinstance(fault, TemplateError):
        return (fault.message or type(fault).__name__)[:300]
    if isinstance(fault, RecursionError):
        return "it is nested too deeply"
    return f"the values do not fit ({type(fault).__name__})"


def _sole(tree: nodes.Template) -> nodes.Expr | None:
    """The expression, if the template consists of just one."""
    if len(tree.body) == 1 and isinstance(output := tree.body[0], nodes.Output) and len(output.nodes) == 1:
        node = output.nodes[0]
        return None if isinstance(node, nodes.TemplateData) else node
    return None


def _path(tree: nodes.Template) -> Render | None:
    """The shortcut for `a.b.c`, the most common template: just three look-ups, without a context."""
    keys: list[str] = []
    node: nodes.Node | None = _sole(tree)
    while isinstance(node, nodes.Getattr):
        keys.insert(0, node.attr)
        node = node.node
    if not isinstance(node, nodes.Name):
        return None
    steps = [node.name, *keys]

    def look(names: Names) -> Any:
        value: Any = names
        for number, step in enumerate(steps):
            if type(value) is dict and step in value:
                value = value[step]
            elif isinstance(value := _SANDBOX.getitem(value, step), Undefined):
                raise UndefinedError(f"{'.'.join(steps[:number]) or 'it'} has no {step!r}")
        return value

    return look


def _given(value: Any) -> Any:
    if isinstance(value, Undefined):
        str(value)  # a strict undefined raises an error that names what is missing
    return value


def _program(tree: nodes.Template) -> Render:
    """All other templates: the value of a single expression, else text, limited in length."""
    sole = _sole(tree)
    if sole is not None:
        result = nodes.Assign(nodes.Name("result", "store"), sole, lineno=1)
        tree = nodes.Template([result], lineno=1)
        tree.set_environment(_SANDBOX)
    template = _SANDBOX.from_string(tree)

    def value(names: Names) -> Any:
        context = template.new_context(dict(names))
        list(template.root_render_func(context))  # assigns the variable, and writes nothing
        return _given(context.vars["result"])

    def text(names: Names) -> str:
        pieces, size = [], 0
        for piece in template.root_render_func(template.new_context(dict(names))):
            size += len(piece)
            if size > LONGEST:
                raise ValueError("too long")
            pieces.append(piece)
        return "".join(pieces)

    return text if sole is None else value


_ACTION: dict[str, Callable[[Work], Any]] = {
    "uuid": lambda work: str(work.uuid),
    "run": lambda work: work.run,
    "attempt": lambda work: work.attempt,
    "name": lambda work: work.action_name,
    "workflow": lambda work: work.workflow,
    "callback": lambda work: work.callback,
    "parent_uuid": lambda work: None if work.parent_uuid is None else str(work.parent_uuid),
    "correlation_id": lambda work: work.correlation_id,
    "created_at": lambda work: work.created_at.isoformat(),
}


class Naming:
    """Creates the names that a set of templates uses."""

    def __init__(self, templates: Iterable[Template]) -> None:
        templates = list(templates)
        whole = any(template.whole_action for template in templates)
        asked = set(_ACTION) if whole else {name for template in templates for name in template.of_action}
        self._fields = [(name, _ACTION[name]) for name in _ACTION if name in asked]

    def __call__(self, work: Work, secrets: Mapping[str, str]) -> Names:
        """The names `parameters`, `action` and `secrets`."""
        action = {name: read(work) for name, read in self._fields}
        return {"parameters": work.parameters, "action": action, "secrets": secrets}
