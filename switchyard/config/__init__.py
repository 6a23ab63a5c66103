"""The configuration of all programs: `load` gives one frozen `Config`.

config = load(None)                       # ./switchyard.yaml, or what SWITCHYARD_CONFIG names
config.actions["webhook"].retry.attempts
"""

from switchyard.config.actions.argo import ArgoAction
from switchyard.config.actions.argo_resume import ArgoResumeAction
from switchyard.config.actions.base import Action
from switchyard.config.actions.cirrus import CirrusAction
from switchyard.config.actions.cirrus_task import CirrusTaskAction
from switchyard.config.actions.http import HttpAction
from switchyard.config.actions.local import LocalAction
from switchyard.config.actions.noop import NoopAction
from switchyard.config.actions.sqs import SqsAction
from switchyard.config.actions.stac import StacAction
from switchyard.config.breaker import Breaker
from switchyard.config.callbacks import Callback, Value
from switchyard.config.config import Config
from switchyard.config.load import inspect, load
from switchyard.config.problems import InvalidConfig, Problem
from switchyard.config.rate import Rate
from switchyard.config.retry import RetryPolicy
from switchyard.config.secrets import SecretRef
from switchyard.config.workflows import Workflow

__all__ = [
    "Action",
    "ArgoAction",
    "ArgoResumeAction",
    "Breaker",
    "Callback",
    "CirrusAction",
    "CirrusTaskAction",
    "Config",
    "HttpAction",
    "InvalidConfig",
    "LocalAction",
    "NoopAction",
    "Problem",
    "Rate",
    "RetryPolicy",
    "SecretRef",
    "SqsAction",
    "StacAction",
    "Value",
    "Workflow",
    "inspect",
    "load",
]
