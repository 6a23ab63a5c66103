"""Address and credentials of the Kubernetes API: a kubeconfig, or the pod's own service account."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from kubernetes.aio import client
from kubernetes.aio.config import ConfigException, load_kube_config
from kubernetes.aio.config.incluster_config import InClusterConfigLoader

from switchyard.errors import ConfigError

_load_kube_config: Any = load_kube_config  # the package has types here and there
_InClusterConfigLoader: Any = InClusterConfigLoader

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, slots=True)
class Credentials:
    """Names a kubeconfig file and context; without one, the pod's service account, else kubectl's default."""

    kubeconfig: Path | None = None
    context: str | None = None
    service_account: Path = SERVICE_ACCOUNT

    async def load(self, environ: Mapping[str, str] = os.environ) -> Any:
        """A client configuration, read again from the files: this is how a changed token is picked up."""
        configuration = client.Configuration()
        try:
            if self.kubeconfig is None and environ.get("KUBERNETES_SERVICE_HOST"):
                self._in_cluster(configuration, environ)
            else:
                await _load_kube_config(
                    str(self.kubeconfig or self._default(environ)),
                    context=self.context,
                    client_configuration=configuration,
                    persist_config=False,
                )
        except (ConfigException, OSError) as error:
            raise ConfigError(f"no access to a Kubernetes cluster: {error}") from error
        except (ValueError, TypeError, AttributeError, yaml.YAMLError) as error:
            # What these say may quote the file, and with it a token.
            place = self.kubeconfig or self._default(environ)
            reason = f"{place} is not a kubeconfig ({type(error).__name__})"
            raise ConfigError(f"no access to a Kubernetes cluster: {reason}") from None
        return configuration

    def _in_cluster(self, configuration: Any, environ: Mapping[str, str]) -> None:
        _InClusterConfigLoader(
            token_filename=str(self.service_account / "token"),
            cert_filename=str(self.service_account / "ca.crt"),
            environ=environ,
        ).load_and_set(configuration)

    @staticmethod
    def _default(environ: Mapping[str, str]) -> str:
        return environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config")
