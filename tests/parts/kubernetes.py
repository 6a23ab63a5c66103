"""A real Kubernetes API server on a real etcd. There are no controllers and no nodes, so nothing is
garbage-collected, and a pod runs only where a test takes `node` as well."""

import base64
import json
import secrets
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.parts import guardian
from tests.parts.golang import ETCD, KUBE_APISERVER
from tests.parts.http import until_answers
from tests.parts.kubeapi import KubeApi, Object
from tests.parts.ports import free_port
from tests.parts.process import Process
from tests.waiting import until

CORE = "/api/v1/namespaces"
RBAC = "/apis/rbac.authorization.k8s.io/v1/namespaces"


class Cluster:
    """One API server; `.api` speaks to it as administrator, `.kubeconfig` lets programs do so."""

    def __init__(self) -> None:
        self.folder = guardian.scratch("kubernetes")
        self.port, self.etcd_port = free_port(), free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        self.authority = self.folder / "certs" / "apiserver.crt"
        self.admin_token = secrets.token_hex(16)
        (self.folder / "tokens.csv").write_text(f"{self.admin_token},admin,admin,system:masters\n")
        (self.folder / "accounts.key").write_bytes(_rsa_key())
        self.etcd = Process("etcd", self._etcd_words())
        self.server = Process("kube-apiserver", self._server_words())
        self.controllers: list[Process] = []
        self._start()
        self.api = KubeApi(self.url, self.authority, self.admin_token)
        self.kubeconfig = self.kubeconfig_of(self.admin_token, "admin")

    def stop(self) -> None:
        """Stop the API server; etcd keeps what it knows."""
        self.server.kill()

    def start(self) -> None:
        self.server.start()
        until(self._ready, every=0.1)

    def restart(self) -> None:
        """Kill the API server and start it again, and with it the controllers that run.

        A controller would come back by itself only after client-go's backoff, up to 45 s, and would not write again
        what it could not write meanwhile.
        """
        self.stop()
        self.start()
        for controller in self.controllers:
            if controller.running():
                controller.kill()
                controller.start()

    def compact(self) -> None:
        """Forget etcd's history; after a restart() an older resource version is answered with 410 Gone."""
        key = base64.b64encode(b"\0").decode()
        revision = self._etcd("kv/range", key=key, limit=1)["header"]["revision"]
        self._etcd("kv/compaction", revision=revision, physical=True)

    def store(self, path: str, objects: Sequence[Object]) -> None:
        """Put many objects of a custom resource straight into etcd, under `group/plural/namespace`."""
        for start in range(0, len(objects), 100):
            puts = [_put(path, each) for each in objects[start : start + 100]]
            self._etcd("kv/txn", success=puts)

    def namespace(self) -> str:
        """A new namespace; there is nobody to clean up a deleted one, so it stays."""
        name = f"ns-{secrets.token_hex(4)}"
        self.api.create(CORE, {"metadata": {"name": name}})
        return name

    def quota(self, namespace: str, resource: str, hard: int) -> None:
        """Enforce a ResourceQuota on `resource`; its status is what a controller manager would have set."""
        self.api.create(
            f"{CORE}/{namespace}/resourcequotas",
            {"metadata": {"name": "limit"}, "spec": {"hard": {resource: str(hard)}}},
        )
        status = {"hard": {resource: str(hard)}, "used": {resource: "0"}}
        self.api.patch(f"{CORE}/{namespace}/resourcequotas/limit/status", {"status": status})

    def token(self, account: str, namespace: str, rules: Sequence[Object]) -> str:
        """A token of a new service account that may do what `rules` (as in a Role) say, in its namespace."""
        named = {"metadata": {"name": account}}
        self.api.create(f"{CORE}/{namespace}/serviceaccounts", named)
        self.api.create(f"{RBAC}/{namespace}/roles", {**named, "rules": list(rules)})
        subject = {"kind": "ServiceAccount", "name": account, "namespace": namespace}
        role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": account}
        binding = {**named, "subjects": [subject], "roleRef": role}
        self.api.create(f"{RBAC}/{namespace}/rolebindings", binding)
        request = {"spec": {"expirationSeconds": 3600}}
        made = self.api.create(f"{CORE}/{namespace}/serviceaccounts/{account}/token", request)
        token: str = made["status"]["token"]
        return token

    def kubeconfig_of(self, token: str, name: str, *, port: int | None = None) -> Path:
        """A kubeconfig file for a token; `port` where a proxy is in between."""
        cluster = {
            "server": f"https://127.0.0.1:{port or self.port}",
            "certificate-authority": str(self.authority),
        }
        context = {"cluster": "test", "user": name}
        path = self.folder / f"kubeconfig-{name}-{port or self.port}"
        path.write_text(
            yaml.safe_dump(
                {
                    "apiVersion": "v1",
                    "kind": "Config",
                    "current-context": "test",
                    "clusters": [{"name": "test", "cluster": cluster}],
                    "users": [{"name": name, "user": {"token": token}}],
                    "contexts": [{"name": "test", "context": context}],
                }
            )
        )
        return path

    def close(self) -> None:
        self.api.close()
        self.server.stop()
        self.etcd.stop()
        guardian.discard(self.folder)

    def _start(self) -> None:
        self.etcd.start()
        until_answers(self.etcd, f"http://127.0.0.1:{self.etcd_port}/readyz")
        self.start()

    def _ready(self) -> bool:
        assert self.server.running(), f"kube-apiserver ended:\n{self.server.log.read_text()[-4000:]}"
        if not self.authority.exists():
            return False
        api = KubeApi(self.url, self.authority, self.admin_token)
        try:
            return api.ready() and bool(api.get(f"{CORE}/default"))
        except httpx.HTTPError:
            return False
        finally:
            api.close()

    def _etcd(self, call: str, **body: object) -> dict[str, Any]:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.etcd_port}/v3/{call}", data=json.dumps(body).encode()
        )
        with urllib.request.urlopen(request) as response:
            answer: dict[str, Any] = json.load(response)
            return answer

    def _etcd_words(self) -> list[str]:
        clients = f"http://127.0.0.1:{self.etcd_port}"
        return [
            str(ETCD.binary()),
            f"--data-dir={self.folder}/etcd",
            f"--listen-client-urls={clients}",
            f"--advertise-client-urls={clients}",
            f"--listen-peer-urls=http://127.0.0.1:{free_port()}",
            "--unsafe-no-fsync",
        ]

    def _server_words(self) -> list[str]:
        return [
            str(KUBE_APISERVER.binary()),
            f"--etcd-servers=http://127.0.0.1:{self.etcd_port}",
            "--service-account-issuer=https://kubernetes.test",
            f"--service-account-key-file={self.folder}/accounts.key",
            f"--service-account-signing-key-file={self.folder}/accounts.key",
            "--service-cluster-ip-range=10.0.0.0/24",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",  # else it wants a default route, which a machine offline has not
            "--endpoint-reconciler-type=none",  # nobody has to find it by the kubernetes service
            f"--secure-port={self.port}",
            f"--cert-dir={self.folder}/certs",
            f"--token-auth-file={self.folder}/tokens.csv",
            "--authorization-mode=RBAC",
            "--disable-admission-plugins=ServiceAccount",
        ]


def _put(path: str, content: Object) -> Object:
    key = f"/registry/{path}/{content['metadata']['name']}"
    value = json.dumps(content)
    coded = {
        "key": base64.b64encode(key.encode()).decode(),
        "value": base64.b64encode(value.encode()).decode(),
    }
    return {"requestPut": coded}


def _rsa_key() -> bytes:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
