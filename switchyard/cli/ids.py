"""Ids of actions as users type them: whole, or a unique beginning or end.

The ids of one bulk submission begin alike, so tables show the end of an id (`…3c5b8329`).
"""

import re
from uuid import UUID

from switchyard.cli.database import Rows
from switchyard.errors import BadInput
from switchyard.ledger.queries import query

SHOWN = 8  # characters: of a million actions, one in four thousand shares them with another
SHORTEST = 4
_EXAMPLE = "0197a0f3-8c1e-7a3b-9d2e-1f4c5b6a7d8e"


def short(uuid: UUID) -> str:
    """The end of the id, as tables show it."""
    return f"…{uuid.hex[-SHOWN:]}"


def whole(given: str, what: str = "an action id") -> UUID:
    """Parse a complete id, without looking it up in the ledger."""
    try:
        return UUID(given)
    except ValueError as error:
        raise BadInput(f"{given!r} is not {what}: it looks like {_EXAMPLE}") from error


def identified(connection: Rows, given: str) -> UUID:
    """The action's id; a part of an id is looked up in the ledger."""
    digits = given.removeprefix("…").replace("-", "").lower()
    if re.fullmatch(r"[0-9a-f]{32}", digits):
        return UUID(digits)
    if not re.fullmatch(rf"[0-9a-f]{{{SHORTEST},31}}", digits):
        raise BadInput(
            f"{given!r} is not an action id: it looks like {_EXAMPLE}, "
            f"and {SHORTEST} characters of its beginning or end are enough where only one action has them"
        )
    values = {"low": digits.ljust(32, "0"), "high": digits.ljust(32, "f"), "end": f"%{digits}"}
    rows = connection.execute(query("look", "identified"), values).fetchall()
    found = sorted({row["action_uuid"] for row in rows})
    if len(found) > 1:
        shown = ", ".join(str(uuid) for uuid in found[:3])
        raise BadInput(f"several actions have an id that begins or ends with {given!r}: {shown}, …")
    if not found:
        raise BadInput(f"there is no action whose id begins or ends with {given!r}")
    return UUID(str(found[0]))
