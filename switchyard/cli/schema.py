"""`switchyard schema`."""

import json

from switchyard.config.published import Schema, installed_schema


def schema() -> None:
    """Print the JSON Schema of the configuration, with the types that installed packages add.

    Example: switchyard schema > switchyard.schema.json, and as the first line of switchyard.yaml
    `# yaml-language-server: $schema=switchyard.schema.json`
    """
    print(as_text(installed_schema()), end="")


def as_text(published: Schema) -> str:
    """As it is committed in config/schema.json."""
    return json.dumps(published, indent=2, ensure_ascii=False) + "\n"
