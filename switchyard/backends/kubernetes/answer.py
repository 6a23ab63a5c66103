"""Error responses of the Kubernetes API."""

import json
import re
from collections.abc import Mapping
from typing import Any

from switchyard.errors import SwitchyardError


class RefusedError(SwitchyardError):
    """An answer with a status of 400 or more."""

    def __init__(self, status: int, body: bytes, retry_after: str | None = None) -> None:
        self.status = status
        parsed = _status_object(body)
        self.reason = str(parsed.get("reason") or "")
        self.message = str(parsed.get("message") or body[:500].decode(errors="replace").strip())
        self.details: Mapping[str, Any] = parsed.get("details") or {}
        self.retry_after = _seconds(retry_after)
        if self.retry_after is None and status in (429, 500, 503, 504):
            self.retry_after = _seconds(str(self.details.get("retryAfterSeconds") or ""))
        super().__init__(f"Kubernetes answered {status} {self.reason}: {self.message}")

    @classmethod
    def from_status(cls, status: Mapping[str, Any]) -> "RefusedError":
        """The Status object that a watch sends in place of an event."""
        return cls(int(status.get("code") or 500), json.dumps(status).encode())

    @property
    def gone(self) -> bool:
        """Whether the requested version or page was compacted away: list again."""
        return self.status == 410

    @property
    def temporary(self) -> bool:
        """Whether to retry; the request may have taken effect."""
        return self.status in (408, 429) or self.status >= 500

    @property
    def quota(self) -> bool:
        """Whether a ResourceQuota is exhausted."""
        return self.status == 403 and "exceeded quota" in self.message

    @property
    def missing(self) -> str | None:
        """What a 404 misses: the API itself (no CRD), or `kind "name"`."""
        if self.status != 404:
            return None
        kind, name = self.details.get("kind"), self.details.get("name")
        return f'{kind} "{name}"' if kind and name else "the API (is Argo's CRD installed?)"


def _status_object(body: bytes) -> dict[str, Any]:
    try:
        parsed = json.loads(body)
    except ValueError:
        return {}
    return parsed if isinstance(parsed, dict) and parsed.get("kind") == "Status" else {}


def _seconds(text: str | None) -> float | None:
    """Retry-After in seconds; the Kubernetes API never sends its date form."""
    return float(text) if text and re.fullmatch(r"[0-9]{1,6}", text) else None
