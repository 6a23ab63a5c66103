"""The four roles of callers, and the database role that each request runs under."""

from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """What a caller may do; an operator may do what a reader may, an admin everything."""

    SUBMITTER = "submitter"
    READER = "reader"
    OPERATOR = "operator"
    ADMIN = "admin"


_DATABASE = {
    Role.SUBMITTER: "switchyard_client",
    Role.READER: "switchyard_reader",
    Role.OPERATOR: "switchyard_operator",
    Role.ADMIN: "switchyard_admin",
}
# A submitter sees its own jobs and nothing else: it is not a weaker reader.
_INCLUDES = {
    Role.SUBMITTER: {Role.SUBMITTER},
    Role.READER: {Role.READER},
    Role.OPERATOR: {Role.READER, Role.SUBMITTER, Role.OPERATOR},
    Role.ADMIN: set(Role),
}


@dataclass(frozen=True, slots=True)
class Caller:
    """Who sent a request."""

    name: str
    role: Role

    def may(self, role: str) -> bool:
        """Whether the caller's role includes that one."""
        return Role(role) in _INCLUDES[self.role]

    @property
    def database_role(self) -> str:
        """The role that its transactions run under."""
        return _DATABASE[self.role]


NOBODY = Caller("nobody", Role.SUBMITTER)
"""Somebody who was not authenticated."""
