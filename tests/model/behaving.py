"""Runs a state machine against its model: the same examples every time, each on a fresh ledger."""

from typing import ClassVar

from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

from tests.parts.database import Template


class LedgerMachine(RuleBasedStateMachine):
    """A machine whose databases are clones of a template."""

    template: ClassVar[Template]


def behaves(machine: type[LedgerMachine], template: Template) -> None:
    """Fail with the shortest sequence of steps that breaks the model."""
    machine.template = template
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=25,
            stateful_step_count=30,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
