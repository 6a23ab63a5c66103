"""An action in the file: a mapping whose `type` selects the model of the rest."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, JsonValue, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema

from switchyard.backends.registry import backend_of, built_in, type_names
from switchyard.config.action import Action
from switchyard.config.problems import nearest


class PluginAction(Action):
    """A type from an installed package that has no model of its own."""

    options: Mapping[str, JsonValue] = {}
    """Whatever the handler reads."""


def model_of(name: str) -> type[Action] | None:
    """The model of a type; None where there is no such type, ValueError where its package is broken."""
    backend = backend_of(name)
    if backend is None:
        return None
    model = backend.model or PluginAction
    if not (isinstance(model, type) and issubclass(model, Action)):
        raise ValueError(f"the backend of type {name!r} has a model that is not a subclass of Action")  # noqa: TRY004
    return model


def parse_action(value: Any, info: ValidationInfo) -> Action:
    """The model of its type; every error keeps its place below the action."""
    if isinstance(value, Action):
        return value
    if not isinstance(value, dict):
        raise PydanticCustomError("action_form", "an action is a mapping with a type: write {{type: noop}}")
    name = value.get("type")
    if not isinstance(name, str):
        known = {"known": ", ".join(type_names())}
        raise PydanticCustomError("action_type", "type is missing: it is one of {known}", known)
    model = model_of(name)
    if model is None:
        said = {
            "name": repr(name[:60]),
            "near": nearest(name, type_names()),
            "known": ", ".join(type_names()),
        }
        raise PydanticCustomError("action_type", "there is no type {name}{near}; there are {known}", said)
    in_python = not (info.context or {}).get("written")
    return model.model_validate(value, context=info.context, by_alias=True, by_name=in_python)


class _ByType:
    """Validates by `type`, serialises the actual model, and publishes the built-in types."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> core_schema.CoreSchema:
        return core_schema.with_info_plain_validator_function(
            parse_action,
            serialization=core_schema.wrap_serializer_function_ser_schema(
                lambda action, _, info: action.model_dump(mode=info.mode), info_arg=True
            ),
        )

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        models = {name: backend.model for name, backend in built_in().items()}
        choices = {
            name: model.__pydantic_core_schema__ for name, model in models.items() if model is not None
        }
        return handler(core_schema.tagged_union_schema(choices, discriminator="type"))


AnyAction = Annotated[Action, _ByType()]
