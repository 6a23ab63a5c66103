"""What both clients share: connection settings, checks of submissions, and waiting."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from switchyard.client.records import Thread
from switchyard.errors import WaitTimeout
from switchyard.submit.check import accept
from switchyard.submit.options import Options, submission
from switchyard.submit.submission import Request, Submission

if TYPE_CHECKING:
    from switchyard.config.config import Config

APPLICATION = "switchyard client"
SHORTEST, LONGEST = 0.05, 2.0  # seconds between two looks of `wait`


class Client:
    """A client's connection settings, and the configuration that it checks submissions against."""

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
        """A checked submission; raises BadInput that names every invalid field."""
        return accept(submission(name, parameters, options), self.config)

    def requests(self, submissions: Iterable[Submission]) -> list[Request]:
        """The same for many."""
        return [accept(each, self.config) for each in submissions]


def pauses(timeout: float | None) -> Iterator[float]:
    """The growing pauses between the polls of `wait`; ends when the time is over."""
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
