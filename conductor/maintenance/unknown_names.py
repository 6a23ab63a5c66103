"""Names that the whole configuration lacks: what waits under them ends INVALID, never in a silent wait."""

from collections.abc import Callable

from conductor.action import Decision
from conductor.claim.claim import claim, unlock
from conductor.maintenance.own_session import OwnSession
from conductor.outcomes.write import write
from conductor.session.arrays import Uuids
from conductor.session.session import Session
from switchyard.config.config import Config
from switchyard.errors import Transient
from switchyard.ledger.queries import query
from switchyard.process.log import get_logger

log = get_logger(__name__)

UNKNOWN_NAMES = query("conductor", "unknown_names")
EVERY = 10.0
AT_ONCE = 500


class UnknownNames:
    """Claims like a worker does, so that a conductor which does know the name is never overruled."""

    name = "unknown names"

    def __init__(self, own: OwnSession, config: Callable[[], Config]) -> None:
        self._own = own
        self._config = config  # asked at every call: it may have been reloaded

    async def run_once(self) -> float:
        """One batch for each unknown name; at once again where there was a full one."""
        full = False
        config = self._config()
        known = {"names": sorted(config.actions), "config_hash": config.fingerprint()}
        async with self._own.session() as session:
            found = await session.rows(UNKNOWN_NAMES, known)
            for (name,) in found:
                full |= await _end_invalid(session, name) == AT_ONCE
        return 0.0 if full else EVERY


async def _end_invalid(session: Session, name: str) -> int:
    batch, _ = await claim(session, name, AT_ONCE, Uuids.of([]))
    if not len(batch):
        return 0
    actions = batch.actions(ahead=0)
    for action in actions:
        action.decision = Decision("INVALID", f"the configuration has no action named {name!r}")
    done = await write(session, actions)
    await unlock(session, [action.lock for action in actions])
    if done.left:
        raise Transient(f"{len(done.left)} of {name!r} could not be ended: {done.refused or 'in use'}")
    log.error("ended INVALID: no such action is configured", action=name, count=len(actions))
    return len(actions)
