"""Parts that are built from the Go module proxy, each pinned by a small module of ours in tests/parts/go."""

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.parts.cache import UnavailableError, cached, run, tool


@dataclass(frozen=True)
class GoPart:
    """`module` as required in go/<name>/go.mod, the command in it to build, and a folder of it to keep."""

    name: str
    module: str
    command: str
    folder: str | None = None

    @property
    def source(self) -> Path:
        return Path(__file__).parent / "go" / self.name

    def version(self) -> str:
        found = re.search(rf"{re.escape(self.module)} (v\S+)", (self.source / "go.mod").read_text())
        assert found, f"{self.module} is not required in {self.source}/go.mod"
        return found[1]

    def binary(self) -> Path:
        """The built command; the first time this takes minutes."""
        return cached(f"{self.name}-{self.version()}", self._build) / self.name

    def kept(self) -> Path:
        """The module's own `folder`, beside the binary."""
        return self.binary().parent / "kept"

    def _build(self, into: Path) -> None:
        self._compile(into)
        if self.folder:
            (into / "kept").mkdir()
            for each in (self._module_folder() / self.folder).iterdir():
                shutil.copyfile(each, into / "kept" / each.name)  # without the module cache's read-only mode

    def _module_folder(self) -> Path:
        listed = run([tool("go"), "list", "-m", "-f", "{{.Dir}}", self.module], cwd=self.source)
        return Path(listed.strip())

    def _compile(self, into: Path) -> None:
        flags = ["-mod=readonly", "-trimpath", "-ldflags=-s -w", "-o", str(into / self.name)]
        run(
            [tool("nice"), "-n", "10", tool("go"), "build", *flags, f"{self.module}{self.command}"],
            cwd=self.source,
            env={"CGO_ENABLED": "0", "GOFLAGS": "", "GOWORK": "off"},
        )


@dataclass(frozen=True)
class GoModule:
    """A folder of a module's source, which nothing is built from; `checksum` is the one of go.sum."""

    name: str
    module: str
    version: str
    checksum: str
    folder: str

    def files(self) -> Path:
        """The files of the folder."""
        return cached(f"{self.name}-{self.version}", self._download)

    def source(self, cwd: Path) -> Path:
        """The folder in Go's own cache, whose files cannot be written."""
        argv = [tool("go"), "mod", "download", "-json", f"{self.module}@{self.version}"]
        found = json.loads(run(argv, cwd=cwd, env={"GOFLAGS": "", "GOWORK": "off"}))
        if found["Sum"] != self.checksum:
            raise UnavailableError(f"{self.module} {self.version} has the checksum {found['Sum']}")
        return Path(found["Dir"]) / self.folder

    def _download(self, into: Path) -> None:
        for each in self.source(into).iterdir():
            shutil.copyfile(each, into / each.name)


ETCD = GoPart("etcd", "go.etcd.io/etcd/server/v3", "")
KUBE_APISERVER = GoPart("kube-apiserver", "k8s.io/kubernetes", "/cmd/kube-apiserver")
ARGO = GoPart(
    "argo", "github.com/argoproj/argo-workflows/v3", "/cmd/workflow-controller", "manifests/base/crds/minimal"
)
VERSITYGW = GoPart("versitygw", "github.com/versity/versitygw", "/cmd/versitygw")
KUSTOMIZE = GoPart("kustomize", "sigs.k8s.io/kustomize/kustomize/v5", "")
HELM = GoPart("helm", "helm.sh/helm/v4", "/cmd/helm")
KEDA = GoModule(
    "keda",
    "github.com/kedacore/keda/v2",
    "v2.21.0",
    "h1:R6z2HZvstK4RLUMxroNACzBj74xGxt3kG59b5Xc+Xps=",
    "config/crd/bases",
)
PROMETHEUS_OPERATOR = GoModule(
    "prometheus-operator",
    "github.com/prometheus-operator/prometheus-operator",
    "v0.85.0",
    "h1:M5xLCLEoaW2IJfnuCwFzzpL+jSVQu3KGT84Pye+fW8s=",
    "example/prometheus-operator-crd",
)
