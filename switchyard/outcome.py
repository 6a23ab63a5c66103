"""What a dispatch came to: a closed set, so that every action ends in exactly one persisted outcome."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Detail = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Success:
    """Done; nothing more will be heard of it."""

    detail: Detail = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HandedOver:
    """Somebody else runs it now and will report the end: the thread becomes QUEUED."""

    detail: Detail = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Retry:
    """Not this time. `delay` is what the other side asked for, in seconds; else the policy decides.

    `sent`: something may have reached the other side. At-most-once retries only where nothing did.
    """

    error: str
    delay: float | None = None
    sent: bool = True
    detail: Detail = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Failed:
    """It was tried and will not work; an administrator has to look."""

    error: str
    detail: Detail = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Invalid:
    """The configuration or the parameters are wrong: trying again cannot help."""

    error: str
    detail: Detail = field(default_factory=dict)


Outcome = Success | HandedOver | Retry | Failed | Invalid
