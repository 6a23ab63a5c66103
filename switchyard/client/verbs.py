"""What both clients share: where they are connected, what a submission is made of, and how they wait."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict
from uuid import UUID

from switchyard.client.records import Thread
from switchyard.errors import WaitTimeout
from switchyard.submit.check import accept
from switchyard.submit.submission import Request, Submission

if TYPE_CHECKING:
    from switchyard.config.config import Config

APPLICATION = "switchyard client"
SHORTEST, LONGEST = 0.05, 2.0  # seconds between two looks of `wait`


class Options(TypedDict, total=False):
    """What else a submission may have; see docs/python.md."""

    workflow: str | None
    """The workflow to run; its action name need not be given then."""
    idempotency_key: str | None
    """Reusing a key for the same action name returns the first action's id."""
    start_after: datetime | None
    """Not before this time; it must have a time zone."""
    priority: int | None
    """Smaller goes first; of equals the older."""
    correlation_id: str | None
    """Goes along into every log line, message and webhook."""
    parent_uuid: UUID | None
    """The action that this one follows from."""
    callbacks: Sequence[Mapping[str, Any]] | None
    """Callbacks of this action alone, shaped like those in the configuration."""
    lane: str | None
    """Whom it belongs to, or where it goes."""
    tags: Sequence[str]
    """Words to find it by."""
    after: Sequence[UUID]
    """Actions that must have ended before it starts."""
    after_policy: str | None
    """`successful` (default): otherwise it is canceled; or `ended`."""
    no_cache: bool | None
    """Compute it, whatever results there are, and let nobody reuse this one."""


class Client:
    """Where a client is connected, and what it checks submissions against."""

    def __init__(self, url_or_connection: Any = None, config: "Config | str | Path | None" = None) -> None:
        self.config: Config | None = _loaded(config)
        is_url = url_or_connection is None or isinstance(url_or_connection, str)
        self._given = None if is_url else url_or_connection
        self._url: str | None = url_or_connection if is_url else None

    def url(self) -> str:
        """The database's address: the one given, the configured one, else libpq's PG* variables."""
        if self._url is not None:
            return self._url
        return self.config.database.conninfo() if self.config is not None else ""

    def store_url(self) -> str | None:
        """The configured object store."""
        return self.config.store if self.config is not None else None

    def request(self, name: str | None, parameters: Mapping[str, Any], options: Options) -> Request:
        """A submission that passed every check; BadInput names each field that is wrong."""
        given = {key: value for key, value in options.items() if value is not None}
        return accept(Submission(name, parameters, **given), self.config)  # type: ignore[arg-type]

    def requests(self, submissions: Iterable[Submission]) -> list[Request]:
        """The same for many."""
        return [accept(submission, self.config) for submission in submissions]


def pauses(timeout: float | None) -> Iterator[float]:
    """The pauses between the looks of `wait`, longer from look to look; ends when the time is over."""
    pause, waited = SHORTEST, 0.0
    while timeout is None or waited < timeout:
        step = pause if timeout is None else min(pause, timeout - waited)
        yield step
        waited, pause = waited + step, min(LONGEST, pause * 1.5)


def timed_out(thread: Thread, timeout: float | None) -> WaitTimeout:
    """The error of a wait that gave up."""
    return WaitTimeout(f"action {thread.action_uuid} is {thread.status} after {timeout} s")


def _loaded(config: "Config | str | Path | None") -> "Config | None":
    if config is None or not isinstance(config, str | Path):
        return config
    from switchyard.config.load import load  # noqa: PLC0415 - half a second, for those who pass a file

    return load(config)
