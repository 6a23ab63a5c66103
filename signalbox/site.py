"""State that all requests share: the configuration, the database, the object store, access."""

from dataclasses import dataclass, field
from typing import Any

from prometheus_client import CollectorRegistry
from starlette.requests import Request

from signalbox.access.failures import FailedLogins
from signalbox.access.jwt import Keys
from signalbox.database import Database
from signalbox.live.poller import Live
from signalbox.recent import Recent
from signalbox.submissions import Submissions
from switchyard.config.config import Config
from switchyard.store import Store


@dataclass(slots=True)
class Site:
    """Replaced as a whole when the configuration is read again."""

    config: Config
    database: Database
    submissions: Submissions
    store: Store
    keys: Keys | None
    failures: FailedLogins
    registry: CollectorRegistry
    live: Live
    announced: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Processes as they were last read: a submission says which version it was checked against."""
    usual: Recent[Any] = field(default_factory=lambda: Recent(60))
    """How long jobs take lately, by action name and process."""
    counts: Recent[Any] = field(default_factory=lambda: Recent(5))
    """How many entries of the inbox wait, and how many campaigns go on."""
    waiting: int = 0
    """How many requests wait for the end of their job."""

    @property
    def base_path(self) -> str:
        """The prefix of every path; empty at the root of a host."""
        return self.config.signalbox.base_path

    def origin(self, request: Request) -> str:
        """Scheme and host of this API's addresses: the configured ones, otherwise those of the request."""
        configured = self.config.signalbox.public_url
        return (
            configured or f"{request.scope['scheme']}://{request.headers.get('host') or request.url.netloc}"
        )
