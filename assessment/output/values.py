"""Values of a result as files take them."""

from typing import Any

JOIN = " | "


def flat(value: Any) -> Any:
    """Lists (warnings) as one text; everything else as it is."""
    return JOIN.join(value) if isinstance(value, list) else value


def as_text(value: Any) -> str:
    """A cell of a CSV. A text that a spreadsheet would execute as a formula gets an apostrophe."""
    if value is None:
        return ""
    text = str(flat(value))
    if isinstance(value, str | list) and text[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + text
    return text
