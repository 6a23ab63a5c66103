"""`switchyard schema`: the JSON Schema of the configuration, for editors."""

import json

from switchyard.config.published import json_schema


def schema() -> None:
    """Print the JSON Schema of the configuration.

    Example: switchyard schema > switchyard.schema.json, and in the first line of switchyard.yaml:
    # yaml-language-server: $schema=switchyard.schema.json
    """
    print(schema_text(), end="")


def schema_text() -> str:
    """As it is committed in config/schema.json."""
    return json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n"
