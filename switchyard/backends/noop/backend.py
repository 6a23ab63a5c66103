"""Registers `noop`."""

from switchyard.backends.noop.handler import NoopHandler
from switchyard.backends.noop.model import NoopAction
from switchyard.backends.plugin import Backend

noop = Backend("noop", NoopHandler, NoopAction)
