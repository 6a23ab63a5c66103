"""Where credentials come from: a pod's service account, a kubeconfig, or nowhere."""

from pathlib import Path

import pytest
import yaml

from switchyard.backends.kubernetes.credentials import Credentials
from switchyard.errors import ConfigError

POD = {"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}


def account(folder: Path, token: str = "first") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "token").write_text(token)
    (folder / "ca.crt").write_text("a certificate")
    return folder


def kubeconfig(folder: Path, host: str = "https://one.example") -> Path:
    users = [
        {"name": "u", "user": {"token": "t"}},
        {"name": "v", "user": {"tokenFile": str(folder / "token")}},
    ]
    document = {
        "current-context": "one",
        "clusters": [{"name": "c", "cluster": {"server": host}}],
        "users": users,
        "contexts": [
            {"name": "one", "context": {"cluster": "c", "user": "u"}},
            {"name": "two", "context": {"cluster": "c", "user": "v"}},
        ],
    }
    path = folder / "config"
    path.write_text(yaml.safe_dump(document))
    return path


async def test_in_a_pod_the_service_account_is_read_each_time(tmp_path: Path) -> None:
    credentials = Credentials(service_account=account(tmp_path / "account"))
    first = await credentials.load(POD)
    assert first.host == "https://10.0.0.1:443"
    assert first.api_key["BearerToken"] == "bearer first"
    account(tmp_path / "account", "second")
    assert (await credentials.load(POD)).api_key["BearerToken"] == "bearer second"


async def test_a_kubeconfig_that_is_named_wins_even_in_a_pod(tmp_path: Path) -> None:
    credentials = Credentials(kubeconfig(tmp_path), service_account=account(tmp_path / "account"))
    assert (await credentials.load(POD)).host == "https://one.example"


async def test_outside_a_pod_it_is_kubectls_own(tmp_path: Path) -> None:
    loaded = await Credentials().load({"KUBECONFIG": str(kubeconfig(tmp_path))})
    assert loaded.api_key["BearerToken"] == "Bearer t"


async def test_a_context_and_its_token_file(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path)
    for token in ("old", "new"):
        (tmp_path / "token").write_text(token)
        assert (await Credentials(path, "two").load({})).api_key["BearerToken"] == f"Bearer {token}"


@pytest.mark.parametrize("content", [None, "", "[]", "current-context: nowhere\n", "{"])
async def test_no_access_is_one_clear_error(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "config"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ConfigError, match="no access to a Kubernetes cluster"):
        await Credentials(path).load({})


async def test_a_pod_without_a_token_reports_it(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="token file"):
        await Credentials(service_account=tmp_path).load(POD)
