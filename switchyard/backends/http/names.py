"""What templates see of an action; only what they ask for is made."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from switchyard.backends.http.template import Names, Template
from switchyard.handlers import Work

_ACTION: dict[str, Callable[[Work], Any]] = {
    "uuid": lambda work: str(work.uuid),
    "run": lambda work: work.run,
    "attempt": lambda work: work.attempt,
    "name": lambda work: work.action_name,
    "workflow": lambda work: work.workflow,
    "callback": lambda work: work.callback,
    "parent_uuid": lambda work: None if work.parent_uuid is None else str(work.parent_uuid),
    "correlation_id": lambda work: work.correlation_id,
    "created_at": lambda work: work.created_at.isoformat(),
}


class Naming:
    """Makes the names for a set of templates."""

    def __init__(self, templates: Iterable[Template]) -> None:
        templates = list(templates)
        whole = any(template.whole_action for template in templates)
        asked = set(_ACTION) if whole else {name for template in templates for name in template.of_action}
        self._fields = [(name, _ACTION[name]) for name in _ACTION if name in asked]

    def __call__(self, work: Work, secrets: Mapping[str, str]) -> Names:
        """`parameters`, `action` and `secrets`."""
        action = {name: read(work) for name, read in self._fields}
        return {"parameters": work.parameters, "action": action, "secrets": secrets}
