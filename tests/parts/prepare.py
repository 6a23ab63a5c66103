"""Builds the parts ahead of the tests: all by `python -m tests.parts.prepare`, else those that the chosen tests need.

A part that is not available is not an error here; the test that needs it gives the reason.
"""

import os
import sys
import time
from collections.abc import Callable, Set
from pathlib import Path

from tests.parts import clock, elasticmq, pgserver, stac
from tests.parts.cache import UnavailableError
from tests.parts.golang import (
    ARGO,
    ETCD,
    HELM,
    KEDA,
    KUBE_APISERVER,
    KUSTOMIZE,
    PROMETHEUS_OPERATOR,
    VERSITYGW,
)
from tests.parts.need import required
from tests.parts.wheels import wheels

Builder = Callable[[], Path]

BUILDERS: dict[str, tuple[Builder, ...]] = {
    "elasticmq": (elasticmq.jars,),
    "s3": (VERSITYGW.binary,),
    "kubernetes": (ETCD.binary, KUBE_APISERVER.binary, ARGO.binary),
    "documents": (KUSTOMIZE.binary,),
    "rendered": (HELM.binary, KUSTOMIZE.binary),
    "operators": (KEDA.files, PROMETHEUS_OPERATOR.files),
    "image": (wheels,),
    "postgres": (pgserver.binaries,),
    "stac": (stac.environment,),
    "fault_yard": (elasticmq.jars, ETCD.binary, KUBE_APISERVER.binary, ARGO.binary, clock.library),
}


def prepare(fixtures: Set[str]) -> bool:
    """Make what these fixtures start, one after the other: each build uses all cores itself."""
    wanted = [builder for name in sorted(BUILDERS.keys() & fixtures) for builder in BUILDERS[name]]
    made = [_timed(builder) for builder in wanted]
    return all(made)


def moto_instead(variable: str, builder: Builder) -> bool:
    """Whether to use moto: it was asked for, or the better part is neither available nor required."""
    if os.environ.get(variable) == "moto":
        return True
    try:
        builder()
    except UnavailableError:
        return not required()
    return False


def _timed(builder: Builder) -> bool:
    begin = time.monotonic()
    try:
        made = builder()
    except UnavailableError as why:
        print(f"not available: {why}", file=sys.stderr)
        return False
    if time.monotonic() - begin > 1:
        print(f"made {made} in {time.monotonic() - begin:.0f} s", file=sys.stderr)
    return True


if __name__ == "__main__":
    complete = prepare(BUILDERS.keys())
    sys.exit(required() and not complete)
