"""The counts in the navigation: read every five seconds at most, however many pages are open."""

from signalbox.access.roles import Role
from signalbox.endpoint import Call
from switchyard.ledger.queries import query as named

MOST = 999


async def counts_for(call: Call) -> dict[str, str]:
    """The count beside the name of a page, by its path; left out if it is 0 or the caller may not see it."""
    if not call.caller.may(Role.READER):
        return {}

    async def read() -> dict[str, str]:
        row = await call.row(named("signalbox", "counts"))
        assert row is not None
        return {f"/{name}": shown(count) for name, count in row.items() if count}

    found: dict[str, str] = await call.site.counts.get("counts", read)
    return found


def shown(count: int) -> str:
    """The text of a count, which is bounded."""
    return f"{count}" if count <= MOST else f"{MOST}+"
