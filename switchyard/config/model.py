"""The base of all configuration models: immutable, and strict about unknown keys."""

import ast
import inspect
import textwrap
from itertools import pairwise

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import core_schema


class Model(BaseModel):
    """One mapping of the file. Unknown keys are errors, and errors never repeat what was written."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        hide_input_in_errors=True,
        populate_by_name=True,
        allow_inf_nan=False,
        protected_namespaces=(),
        serialize_by_alias=True,
    )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """With the docstring of each key; Pydantic would parse the source whenever a program starts."""
        made = handler(schema)
        properties = handler.resolve_ref_schema(made).get("properties", {})
        docstrings = _docstrings(cls)
        for name, field in cls.model_fields.items():
            if name in docstrings:
                properties[field.alias or name]["description"] = docstrings[name]
        return made


def _docstrings(model: type[Model]) -> dict[str, str]:
    """The text below each field, of this model and of those that it extends."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, Model) and base is not Model:
            for field, text in pairwise(_body(base)):
                if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr):
                    assert isinstance(field.target, ast.Name)
                    found[field.target.id] = inspect.cleandoc(ast.literal_eval(text.value))
    return found


def _body(model: type[Model]) -> list[ast.stmt]:
    try:
        source = inspect.getsource(model)
    except OSError:  # of an installed package that has none
        return []
    [tree] = ast.parse(textwrap.dedent(source)).body
    assert isinstance(tree, ast.ClassDef)
    return tree.body
