"""An action in the file: a mapping whose `type` says how the rest of it is read."""

from typing import Annotated, Any

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationInfo
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema

from switchyard.backends.registry import built_in, model_of, type_names
from switchyard.config.action import Action
from switchyard.config.nearest import nearest


def parse_action(value: Any, info: ValidationInfo) -> Action:
    """The model of its type; every error keeps its place below the action."""
    if isinstance(value, Action):
        return value
    if not isinstance(value, dict):
        raise PydanticCustomError("action_form", "an action is a mapping with a type: write {{type: noop}}")
    name = value.get("type")
    known = {"known": ", ".join(type_names())}
    if not isinstance(name, str):
        raise PydanticCustomError("action_type", "type is missing: it is one of {known}", known)
    model = model_of(name)
    if model is None:
        said = {"name": repr(name[:60]), "near": nearest(name, type_names()), **known}
        raise PydanticCustomError("action_type", "there is no type {name}{near}; there are {known}", said)
    in_python = not (info.context or {}).get("written")
    return model.model_validate(value, context=info.context, by_alias=True, by_name=in_python)


class _ByType:
    """Validates by `type`, serialises what is there, and publishes the built-in types."""

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
        choices = {name: model.__pydantic_core_schema__ for name, model in built_in().items()}
        return handler(core_schema.tagged_union_schema(choices, discriminator="type"))


AnyAction = Annotated[Action, _ByType()]
