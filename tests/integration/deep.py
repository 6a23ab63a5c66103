"""How deep JSON may be nested depends on the Python."""

import json


def reads(text: str) -> bool:
    """Whether this Python reads that JSON."""
    try:
        json.loads(text)
    except RecursionError:
        return False
    return True
