"""The worker's settings from the environment; all problems are reported together."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from switchyard.errors import ConfigError
from switchyard.process.log import get_logger

T = TypeVar("T")

LONGEST_WAIT = 20
LONGEST_VISIBILITY = 43_200

log = get_logger(__name__)


@dataclass(frozen=True)
class Settings:
    queue: str = "nrf_impact_assessment_queue"
    status_queue: str | None = "nrf_impact_assessment_status"
    status_named: bool = False
    """Whether it was set explicitly: then a missing status queue is an error, else a warning."""
    endpoint: str | None = None
    region: str = "eu-west-2"
    store: str = ""
    wait: int = LONGEST_WAIT
    """Seconds that one poll of the queue waits; a stop waits for it too."""
    visibility: int = 60
    """Seconds that a message stays hidden after its worker died; extended during the work."""
    health_host: str = "127.0.0.1"
    health_port: int = 8085
    heartbeat_timeout: float = 120.0
    task_buffer: float = 1.5
    max_attempts: int = 3
    redelivery_delay: int = 120
    grace: float = 30.0
    """Seconds between SIGTERM and the end."""
    pause: float = 5.0
    """Seconds to wait after an error of the queue."""
    fatal_hold: float = 30.0
    """Seconds that a fatal error stays visible on /health, unless a check sees it earlier."""


@dataclass
class _Reader:
    environ: Mapping[str, str]
    problems: list[str] = field(default_factory=list)

    def text(self, default: str, *names: str) -> str:
        return next((self.environ[name] for name in names if self.environ.get(name)), default)

    def number(self, default: T, name: str, kind: Callable[[str], T], low: float, high: float) -> T:
        said = self.environ.get(name, "").strip()
        if not said:
            return default
        try:
            if low <= float(said) <= high:  # false for nan
                return kind(said)
        except ValueError as error:
            log.debug("no number", name=name, error=str(error))
        whole = "a whole number" if kind is int else "a number"
        self.problems.append(f"{name}={said!r} is not {whole} from {low:g} to {high:g}")
        return default

    def url(self, name: str) -> str | None:
        said = self.environ.get(name) or None
        if said and not said.startswith(("http://", "https://")):
            self.problems.append(f"{name} is not an http:// or https:// address")
        return said


def read(environ: Mapping[str, str], fallback: Settings | None = None) -> Settings:
    """Settings from the environment, and from `fallback` for the rest; a ConfigError lists all problems."""
    base = fallback or Settings()
    env = _Reader(environ)
    settings = Settings(
        queue=env.text(base.queue, "SQS_QUEUE_NAME"),
        status_queue=environ.get("SQS_STATUS_QUEUE_NAME", base.status_queue) or None,
        status_named=base.status_named or "SQS_STATUS_QUEUE_NAME" in environ,
        endpoint=env.url("SQS_ENDPOINT") or base.endpoint,
        region=env.text(base.region, "AWS_REGION", "AWS_DEFAULT_REGION"),
        store=env.text(base.store, "SWITCHYARD_STORE"),
        wait=env.number(base.wait, "SQS_WAIT_TIME_SECONDS", int, 0, LONGEST_WAIT),
        visibility=env.number(base.visibility, "SQS_VISIBILITY_TIMEOUT", int, 3, LONGEST_VISIBILITY),
        health_host=env.text(base.health_host, "HEALTH_HOST"),
        health_port=_port(env, base.health_port),
        heartbeat_timeout=env.number(base.heartbeat_timeout, "HEARTBEAT_TIMEOUT", float, 0.1, 86_400),
        task_buffer=env.number(base.task_buffer, "TASK_TIMEOUT_BUFFER", float, 1, 100),
        max_attempts=env.number(base.max_attempts, "MAX_ATTEMPTS", int, 1, 1000),
        redelivery_delay=env.number(
            base.redelivery_delay, "REDELIVERY_DELAY_SECONDS", int, 0, LONGEST_VISIBILITY
        ),
        grace=env.number(base.grace, "SHUTDOWN_GRACE_SECONDS", float, 1, 7200),
        pause=env.number(base.pause, "ERROR_PAUSE_SECONDS", float, 0.01, 600),
        fatal_hold=env.number(base.fatal_hold, "FATAL_HOLD_SECONDS", float, 0, 600),
    )
    if not settings.store:
        env.problems.append("no store: set SWITCHYARD_STORE, or give --store or --config")
    if env.problems:
        raise ConfigError("; ".join(env.problems))
    return settings


def _port(env: _Reader, default: int) -> int:
    """The health port: PORT takes precedence over HEALTH_PORT; 0 lets the system choose, and is logged."""
    return env.number(env.number(default, "HEALTH_PORT", int, 0, 65_535), "PORT", int, 0, 65_535)
