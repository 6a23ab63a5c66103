"""Masks resolved secrets in log lines and health responses.

This is the last line of defence: secrets should not reach a message at all.
"""

import json
import math
import re
import sys
import threading
import traceback
from collections.abc import Mapping
from types import TracebackType
from typing import Any
from urllib.parse import quote, quote_plus, unquote

MASK = "[redacted]"
# Shorter values occur in ordinary text: masking them would hide the log and protect nothing.
SHORTEST = 4
_DEEPEST = 12

# Tokens that are renewed every few minutes must not pile up for ever; the oldest have long expired.
MOST = 1000

_lock = threading.Lock()
_known: dict[str, frozenset[str]] = {}
_forms: tuple[str, ...] = ()


def register_secret(value: str | bytes) -> None:
    """Mask `value` in all output from now on, also escaped or percent-encoded."""
    global _forms  # noqa: PLW0603 - replaced whole under the lock, so that readers need none
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    if text in _known:
        return
    with _lock:
        _known[text] = frozenset(_spellings(text))
        while len(_known) > MOST:
            del _known[next(iter(_known))]
        # Longest first: a secret that contains another one must not leave its rest behind.
        _forms = tuple(sorted(set().union(*_known.values()), key=lambda form: (-len(form), form)))


def forget_secrets() -> None:
    """Forget all secrets; for tests."""
    global _forms  # noqa: PLW0603 - see register_secret
    with _lock:
        _known.clear()
        _forms = ()


def _spellings(text: str) -> set[str]:
    """The forms in which a secret may appear in text: its single lines, the password of a URL."""
    wholes = {text, text.strip(), *(line.strip() for line in text.splitlines()), *_passwords(text)}
    wholes = {whole for whole in wholes if len(whole) >= SHORTEST and not _is_armour(whole)}
    escaped = {json.dumps(whole, ensure_ascii=only)[1:-1] for whole in wholes for only in (True, False)}
    escaped |= {repr(whole)[1:-1] for whole in wholes}
    encodable = {whole for whole in wholes if whole.isascii() or _has_utf8(whole)}
    return wholes | escaped | {quote(w, safe="") for w in encodable} | {quote_plus(w) for w in encodable}


def _passwords(text: str) -> set[str]:
    """The password of `scheme://user:password@host`, as written and decoded."""
    found = re.match(r"[A-Za-z][A-Za-z0-9+.-]*://[^/@:]*:([^/@]+)@", text)
    return {found.group(1), unquote(found.group(1))} if found else set()


def _is_armour(line: str) -> bool:
    """`-----BEGIN …-----` is not secret, and masking it would hide the kind of secret."""
    return "\n" not in line and line.startswith("-----") and line.endswith("-----")


def _has_utf8(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)


def redact(text: str) -> str:
    """The text with every registered secret masked."""
    for form in _forms:
        if form in text:
            text = text.replace(form, MASK)
    return text


def redact_value(value: Any, depth: int = 0) -> Any:
    """The same value as plain JSON data with secrets masked; what is not JSON becomes its text."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return _number(value)
    if isinstance(value, str):
        return redact(value)
    if depth < _DEEPEST and isinstance(value, Mapping):
        return {redact(str(key)): redact_value(item, depth + 1) for key, item in value.items()}
    if depth < _DEEPEST and isinstance(value, list | tuple | set | frozenset):
        return [redact_value(item, depth + 1) for item in value]
    return redact(_text(value))


def redact_tracebacks() -> None:
    """Mask secrets in the tracebacks of uncaught exceptions, in every thread."""

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.__excepthook__(kind, error, trace)
        else:
            sys.stderr.write(redact("".join(traceback.format_exception(kind, error, trace))))

    def show_thread(failed: threading.ExceptHookArgs) -> None:
        if failed.exc_value is not None and not isinstance(failed.exc_value, SystemExit):
            show(failed.exc_type, failed.exc_value, failed.exc_traceback)

    sys.excepthook = show
    threading.excepthook = show_thread


def _number(value: float) -> Any:
    text = str(value)
    masked = redact(text)
    return value if masked == text and math.isfinite(value) else masked


def _text(value: object) -> str:
    """The value as text; a log call must not fail because of its values."""
    try:
        return str(value)
    except Exception as error:  # noqa: BLE001 - any object may be handed to a log line
        return f"<{type(value).__name__} that cannot be shown: {type(error).__name__}>"
