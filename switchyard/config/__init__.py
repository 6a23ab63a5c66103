"""The configuration of all programs: `load` of load.py gives one frozen `Config`.

config = load(None)                       # ./switchyard.yaml, or what SWITCHYARD_CONFIG names
config.actions["webhook"].retry.attempts

The names are imported when they are first used: a program that only connects reads `connection.py` alone.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from switchyard.config.action import Action
    from switchyard.config.breaker import Breaker
    from switchyard.config.callbacks import Callback, Value
    from switchyard.config.config import Config
    from switchyard.config.problems import InvalidConfig, Problem
    from switchyard.config.rate import Rate
    from switchyard.config.retry import RetryPolicy
    from switchyard.config.secrets import SecretRef
    from switchyard.config.workflows import Workflow

_PLACES = {
    "Action": "action",
    "Breaker": "breaker",
    "Callback": "callbacks",
    "Config": "config",
    "InvalidConfig": "problems",
    "Problem": "problems",
    "Rate": "rate",
    "RetryPolicy": "retry",
    "SecretRef": "secrets",
    "Value": "callbacks",
    "Workflow": "workflows",
}

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
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
