"""`signalbox openapi`."""

import json

import signalbox.routes  # noqa: F401 - declares the endpoints
from signalbox.openapi import document


def openapi() -> None:
    """Print the OpenAPI document of the HTTP API.

    Example: signalbox openapi > docs/openapi.json
    """
    print(json.dumps(document(), indent=2))
