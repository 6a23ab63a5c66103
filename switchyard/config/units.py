"""Durations, rates, sizes and status codes, written as people write them.

In Python a duration is seconds (float), a rate is a number a second (float), a size is bytes (int). Python
may give these numbers directly; in a file or the environment a number without its unit is refused.
"""

import math
import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, PlainSerializer, ValidationInfo, WithJsonSchema

SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
BYTES = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "kB": 10**3, "MB": 10**6, "GB": 10**9}
PER = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}

DURATION_PATTERN = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h|d|w))+$"
RATE_PATTERN = r"^[0-9]+(\.[0-9]+)?/(s|sec|second|m|min|minute|h|hour|d|day)$"
SIZE_PATTERN = r"^[0-9]+(\.[0-9]+)? ?(B|KiB|MiB|GiB|kB|MB|GB)$"

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|w)", re.ASCII)
_RATE_UNITS = {
    "s": "s",
    "sec": "s",
    "second": "s",
    "m": "min",
    "min": "min",
    "minute": "min",
    "h": "h",
    "hour": "h",
    "d": "d",
    "day": "d",
}


def parse_duration(text: str) -> float:
    """`250ms`, `10m`, `1h30m` in seconds."""
    text = text.strip()
    if not re.fullmatch(DURATION_PATTERN.strip("^$"), text, re.ASCII):
        raise ValueError("a duration is written like 250ms, 30s, 10m, 1h30m or 7d")
    return _finite(sum(float(number) * SECONDS[unit] for number, unit in _PART.findall(text)))


def format_duration(seconds: float) -> str:
    """The shortest way to write it exactly: 5400 is `1h30m`."""
    left = round(seconds * 1000)
    parts = []
    for unit in ("d", "h", "m", "s", "ms"):
        size = round(SECONDS[unit] * 1000)
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts) or "0s"


def parse_rate(text: str) -> float:
    """`100/s`, `10/min`, `5000/h` as a number a second."""
    if not re.fullmatch(RATE_PATTERN.strip("^$"), text.strip(), re.ASCII):
        raise ValueError("a rate is written like 100/s, 10/min or 5000/h")
    number, unit = text.strip().split("/")
    return _finite(float(number) / PER[_RATE_UNITS[unit]])


def format_rate(per_second: float) -> str:
    """In the smallest unit that gives a whole number, else a second."""
    for unit, seconds in PER.items():
        count = per_second * seconds
        if math.isclose(count, round(count), rel_tol=1e-9) and round(count) > 0:
            return f"{round(count)}/{unit}"
    return f"{per_second:.6f}/s"


def parse_size(text: str) -> int:
    """`64KiB`, `10MB` in bytes."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?) ?(B|KiB|MiB|GiB|kB|MB|GB)", text.strip(), re.ASCII)
    if not match:
        raise ValueError("a size is written like 512B, 64KiB, 1MiB or 2GiB")
    return int(_finite(float(match[1]) * BYTES[match[2]]))


def format_size(size: int) -> str:
    """In the largest binary unit that gives a whole number."""
    for unit in ("GiB", "MiB", "KiB"):
        if size and size % BYTES[unit] == 0:
            return f"{size // BYTES[unit]}{unit}"
    return f"{size}B"


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise ValueError("this number is too large")
    return number


def _written(parse: Callable[[str], Any], example: str) -> BeforeValidator:
    def read(value: Any, info: ValidationInfo) -> Any:
        if isinstance(value, str):
            return parse(value)
        if (info.context or {}).get("written") and isinstance(value, int | float):
            raise ValueError(f"a number alone has no unit: write it like {example}")
        return value

    return BeforeValidator(read)


Duration = Annotated[
    float,
    Field(ge=0, le=100 * 365 * 86400),
    _written(parse_duration, "30s"),
    PlainSerializer(format_duration, when_used="json"),
    WithJsonSchema({"type": "string", "pattern": DURATION_PATTERN, "examples": ["250ms", "30s", "1h30m"]}),
]
Interval = Annotated[Duration, Field(ge=0.001)]
Aging = Annotated[Duration, Field(ge=1, le=365 * 86400)]
PerSecond = Annotated[
    float,
    Field(gt=0, le=1e6),
    _written(parse_rate, "100/s"),
    PlainSerializer(format_rate, when_used="json"),
    WithJsonSchema({"type": "string", "pattern": RATE_PATTERN, "examples": ["100/s", "10/min"]}),
]
Size = Annotated[
    int,
    Field(ge=0, le=2**50),
    _written(parse_size, "64KiB"),
    PlainSerializer(format_size, when_used="json"),
    WithJsonSchema({"type": "string", "pattern": SIZE_PATTERN, "examples": ["64KiB", "1MiB"]}),
]
