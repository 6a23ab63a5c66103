"""Creates validators of JSON Schemas, which must be valid in their dialect and self-contained."""

from typing import Any

from jsonschema import Draft202012Validator, SchemaError
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT202012


def validator_of(document: Any) -> Validator:
    """Ready for use; a ValueError explains what is wrong with the schema."""
    if not isinstance(document, dict | bool):
        raise ValueError("a schema is the path of a JSON file, or a JSON Schema written in place")  # noqa: TRY004 - pydantic collects ValueErrors
    try:
        kind: Any = validator_for(document, default=Draft202012Validator)
        kind.check_schema(document)
        resource = Resource.from_contents(document, default_specification=DRAFT202012)
        registry = Registry().with_resource(resource.id() or "", resource).crawl()
        _look_up(resource, registry.resolver_with_root(resource))
    except SchemaError as error:
        raise ValueError(f"not a valid JSON Schema at {error.json_path}: {error.message[:300]}") from None
    except _LeadsOutError as error:
        raise ValueError(f"the schema refers to {error}, which is not in the same document") from None
    except (RecursionError, TypeError, AttributeError, ValueError) as error:
        raise ValueError(f"not a JSON Schema that can be used ({type(error).__name__})") from None
    validator: Validator = kind(document, registry=registry)
    return validator


class _LeadsOutError(Exception):
    """A reference to something that is not there."""


def _follow(target: str, resolver: Any) -> None:
    try:
        resolver.lookup(target)
    except Unresolvable:
        raise _LeadsOutError(repr(target)) from None


def _look_up(resource: Resource[Any], resolver: Any) -> None:
    """Follow every reference once: one that leaves the document would otherwise be found out at run time."""
    if isinstance(resource.contents, dict):
        for key in ("$ref", "$dynamicRef"):
            target = resource.contents.get(key)
            if isinstance(target, str):
                _follow(target, resolver)
    for part in resource.subresources():
        _look_up(part, resolver.in_subresource(part))
