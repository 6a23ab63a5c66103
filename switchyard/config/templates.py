"""The Jinja2 that requests are written in: sandboxed, strict about undefined names, over plain JSON.

One environment for the check and for the dispatch, so that what `check` accepts is what will run.
"""

from functools import lru_cache
from typing import Annotated

from jinja2 import TemplateError, nodes
from jinja2.meta import find_undeclared_variables
from pydantic import AfterValidator, JsonValue, WithJsonSchema

from switchyard.config.sandbox import Sandbox

NAMES = frozenset({"parameters", "action"})
WITH_SECRETS = NAMES | {"secrets"}
ACTION_NAMES = frozenset(
    {"uuid", "run", "attempt", "name", "workflow", "callback", "parent_uuid", "correlation_id", "created_at"}
)


@lru_cache(maxsize=1)
def environment() -> Sandbox:
    """The one environment; it has no loader, so a template cannot include another."""
    return Sandbox()


def parse_template(text: str) -> nodes.Template:
    """The syntax tree; a ValueError explains what is wrong with the template."""
    try:
        return environment().restricted(environment().parse(text))
    except TemplateError as error:
        raise ValueError(f"the template does not parse: {error.message}") from None
    except RecursionError:
        raise ValueError("the template is nested too deeply") from None


def check_template(text: str, names: frozenset[str] = NAMES) -> str:
    """The text itself, where it parses and uses only names that the dispatch will know."""
    tree = parse_template(text)
    unknown = sorted(find_undeclared_variables(tree) - names)
    if unknown:
        known = ", ".join(sorted(names))
        raise ValueError(f"the template uses {unknown[0]!r}, which nothing defines here: known are {known}")
    wrong = sorted(names_under(tree, "action") - ACTION_NAMES)
    if wrong:
        raise ValueError(f"an action has no {wrong[0]!r}: it has {', '.join(sorted(ACTION_NAMES))}")
    return text


def names_under(tree: nodes.Template, variable: str) -> set[str]:
    """What is asked of a variable by name: {"partner"} for `secrets.partner` and `secrets['partner']`."""
    found = set()
    for node in tree.find_all((nodes.Getattr, nodes.Getitem)):
        if isinstance(node, nodes.Getattr | nodes.Getitem) and isinstance(node.node, nodes.Name):
            name = node.attr if isinstance(node, nodes.Getattr) else _constant(node.arg)
            if node.node.name == variable and name is not None:
                found.add(name)
    return found


def _constant(node: nodes.Node) -> str | None:
    return node.value if isinstance(node, nodes.Const) and isinstance(node.value, str) else None


def texts_of(value: JsonValue) -> list[str]:
    """Every text in a body, keys included."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list):
        return [text for item in value for text in texts_of(item)]
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (key, *texts_of(item))]
    return []


def _check_with_secrets(text: str) -> str:
    return check_template(text, WITH_SECRETS)


def _check_body(value: JsonValue) -> JsonValue:
    for text in texts_of(value):
        _check_with_secrets(text)
    return value


_SCHEMA = WithJsonSchema({"type": "string"})

Template = Annotated[str, AfterValidator(check_template), _SCHEMA]
SecretTemplate = Annotated[str, AfterValidator(_check_with_secrets), _SCHEMA]
TemplatedJson = Annotated[JsonValue, AfterValidator(_check_body)]
