"""A Postgres in a container, started by testcontainers.

The image is SWITCHYARD_TEST_POSTGRES_IMAGE, by default the official one. The container is removed by us,
not by testcontainers' own reaper, whose image a machine without a registry cannot have.
"""

import gc
import os
import warnings
from typing import TYPE_CHECKING

import psycopg

from tests.parts import guardian
from tests.parts.cache import UnavailableError
from tests.waiting import until

if TYPE_CHECKING:
    from testcontainers.core.container import DockerContainer

IMAGE = os.environ.get("SWITCHYARD_TEST_POSTGRES_IMAGE", "postgres:17")


class ContainerPostgres:
    """The session's shared server, in a container."""

    def __init__(self, settings: dict[str, str]) -> None:
        self._container = _start(["postgres", *(f"--{key}={value}" for key, value in settings.items())])
        host = self._container.get_container_host_ip()
        self._address = f"postgresql://postgres@{host}:{self._container.get_exposed_port(5432)}"
        guardian.watch("container", self._container.get_wrapped_container().id)
        until(self._ready)

    def url(self, dbname: str = "postgres") -> str:
        return f"{self._address}/{dbname}"

    def close(self) -> None:
        identity = self._container.get_wrapped_container().id
        self._container.stop()
        guardian.release("container", identity)

    def _ready(self) -> bool:
        container = self._container.get_wrapped_container()
        container.reload()
        assert container.status == "running", f"the container ended:\n{container.logs().decode()}"
        try:
            psycopg.connect(self.url(), connect_timeout=2).close()
        except psycopg.OperationalError:
            return False
        return True


def _start(command: list[str]) -> "DockerContainer":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # testcontainers deprecates itself on import
        from docker.errors import DockerException  # type: ignore[import-untyped]  # it has no types
        from testcontainers.core.config import testcontainers_config
        from testcontainers.core.container import DockerContainer

        testcontainers_config.ryuk_disabled = True
        try:
            container = DockerContainer(IMAGE).with_exposed_ports(5432)
            container.with_env("POSTGRES_HOST_AUTH_METHOD", "trust")
            container.with_tmpfs_mount("/var/lib/postgresql")  # nothing in it outlives the tests
            return container.with_command(command).start()
        except DockerException as why:
            refused = str(why)
        gc.collect()  # docker's client leaves the socket open that was refused, and pytest would blame a test for it
        raise UnavailableError(f"docker: {refused}")
