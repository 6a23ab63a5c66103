"""Registers `argo`, with one source per namespace, and `argo_resume`."""

from collections.abc import Iterator, Mapping
from typing import Any

from switchyard.backends.argo.model import ArgoAction, ArgoResumeAction
from switchyard.backends.plugin import Backend, SourceContext, by_place
from switchyard.handlers import Handler, HandlerContext
from switchyard.sources import ServedSource


def _handler(name: str, action: Any, context: HandlerContext) -> Handler:
    from switchyard.backends.argo.handler import ArgoHandler

    return ArgoHandler(name, action, context)


def _resume_handler(name: str, action: Any, context: HandlerContext) -> Handler:
    from switchyard.backends.argo.resume.handler import ArgoResumeHandler

    return ArgoResumeHandler(name, action, context)


def _sources(actions: Mapping[str, ArgoAction], context: SourceContext) -> Iterator[ServedSource]:
    from switchyard.backends.argo.source import ArgoSource, Place
    from switchyard.backends.kubernetes.client import Cluster
    from switchyard.backends.kubernetes.credentials import Credentials

    for action, names in by_place(actions, lambda each: (each.kubeconfig, each.context, each.namespace)):
        cluster = Cluster(Credentials(action.kubeconfig, action.context))
        source = ArgoSource(cluster, Place(action.namespace, context.shard), context.store)
        yield ServedSource(source, names, action.reconcile, action.vanished_after)


argo = Backend("argo", _handler, ArgoAction, _sources)
argo_resume = Backend("argo_resume", _resume_handler, ArgoResumeAction)
