"""Every key of the configuration is read by the product; a validator that reads its own key does not count."""

import ast
from pathlib import Path

from tests.guards.sources import modules

# The schema has one legal value; options are read by the third party's handler.
EXCEPTIONS = {"Database.schema_name", "PluginAction.options"}


def test_every_configuration_key_is_read() -> None:
    read = {attribute for tree in modules().values() for attribute in _reads(tree)}
    keys = {f"{model.name}.{key}": key for _, model in _models() for key in _keys(model)}
    assert {name for name, key in keys.items() if key not in read and name not in EXCEPTIONS} == set()
    assert len(keys) > 100, "the models are found"


def _models() -> list[tuple[Path, ast.ClassDef]]:
    """The classes that derive from switchyard.config.model.Model."""
    classes = [
        (path, n) for path, tree in modules().items() for n in tree.body if isinstance(n, ast.ClassDef)
    ]
    names, found = {"Model"}, list[tuple[Path, ast.ClassDef]]()
    while new := [each for each in classes if each not in found and _bases(each[1]) & names]:
        found += new
        names |= {model.name for _, model in new}
    return found


def _bases(node: ast.ClassDef) -> set[str]:
    return {base.id for base in node.bases if isinstance(base, ast.Name)}


def _keys(model: ast.ClassDef) -> list[str]:
    fields = [each.target for each in model.body if isinstance(each, ast.AnnAssign)]
    return [field.id for field in fields if isinstance(field, ast.Name)]


def _reads(tree: ast.Module) -> set[str]:
    validators = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and _validates(node)]
    hidden = {id(node) for validator in validators for node in ast.walk(validator)}
    loaded = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and id(node) not in hidden]
    return {node.attr for node in loaded if isinstance(node.ctx, ast.Load)}


def _validates(function: ast.FunctionDef) -> bool:
    return any("validator" in ast.unparse(decorator) for decorator in function.decorator_list)
