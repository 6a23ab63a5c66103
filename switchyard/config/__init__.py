"""The configuration of all programs: `load` gives one frozen `Config`.

config = load(None)                       # ./switchyard.yaml, or what SWITCHYARD_CONFIG names
config.actions["webhook"].retry.attempts
"""

from switchyard.config.action import Action
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
    "Breaker",
    "Callback",
    "Config",
    "InvalidConfig",
    "Problem",
    "Rate",
    "RetryPolicy",
    "SecretRef",
    "Value",
    "Workflow",
    "inspect",
    "load",
]
