"""When a worker looks for work: at once when quiet, in batches when busy, and never too late.

The model. Writers ring (NOTIFY) only where somebody sleeps: the trigger tries the bell's advisory lock,
shared, and rings where it does not get it. A worker arms the bell by taking that lock exclusively. It only
ever tries: waiting would make one open submit transaction deafen it.

- Armed: whatever commits after the arming rings, and every ring is followed by a look in a new statement. So
  an armed worker may sleep until the bell, the earliest due time, or the poll. It stays armed while traffic
  is light: an action that comes alone is found by one statement.
- A bell that names its action, heard while nothing else is known of, is answered by a look at that one alone.
- Not armed, because writers are in flight or a peer is armed: nap for at most half a second, look, try again.
- Busy, with more than a handful found in the last tenth of a second: bells would cost the writers more than
  looks cost us, so disarm and look every `listen_wait`.
- A look that saw threads which others hold naps too: a peer that dies rings no bell.
- What is due and was not made ready is under somebody's open transaction: look for it every `listen_wait`.

NOTIFY is latency, never correctness: were every bell lost, the naps and the poll would find the work.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

NAP = 0.5
QUIET = 0.1  # how far back a worker remembers what it found
BUSY = 8  # more than this within QUIET is busy


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at the queue said."""

    wanted: int
    claimed: int
    skipped: bool  # others hold something that is due
    due_in: float | None  # seconds until the earliest that is not due yet


NOTHING = Look(wanted=0, claimed=0, skipped=False, due_in=None)


class Bell:
    """Remembers rings and looks, and says when the next look is due."""

    def __init__(self, clock: Callable[[], float], *, listen_wait: float, poll: float) -> None:
        self._clock = clock
        self._listen_wait = listen_wait
        self._poll = poll
        self._found: deque[tuple[float, int]] = deque()
        self._looked_at = -poll
        self._last = NOTHING
        self._rung = True  # nobody knows what was there before the first look
        self._refused = False  # the bell could not be armed since the last look
        self.armed = False

    def ring(self) -> None:
        """Something may be there."""
        self._rung = True

    def looking(self) -> None:
        """A look starts: what rings from here on asks for another one."""
        self._rung = self._refused = False
        self._looked_at = self._clock()

    def looked(self, look: Look) -> None:
        """A look ended."""
        self._last = look
        if look.claimed:
            self._found.append((self._clock(), look.claimed))

    def answered(self, look: Look) -> None:
        """A bell that named its action was answered by itself; of the rest, the last look still stands."""
        if look.claimed:
            self._found.append((self._clock(), look.claimed))
        if look.skipped:
            self._last = replace(self._last, skipped=True)

    @property
    def still(self) -> bool:
        """Nothing is known to be there, so what rings now is all there is."""
        return not (self._rung or self.more or self.busy)

    @property
    def more(self) -> bool:
        """The last look got all it wanted, so there may be more at once."""
        return self._last.wanted > 0 and self._last.claimed >= self._last.wanted

    @property
    def busy(self) -> bool:
        """Enough was found lately that looking beats listening."""
        past = self._clock() - QUIET
        while self._found and self._found[0][0] < past:
            self._found.popleft()
        return sum(count for _, count in self._found) > BUSY

    def wants_arming(self) -> bool:
        """Nothing more is known of and it is quiet: time to sleep."""
        return self.still and not (self.armed or self._refused)

    def arm(self, *, got: bool) -> None:
        """The bell's lock was tried. Got: look once more, for what committed before it was ours."""
        self.armed, self._refused = got, not got
        if got:
            self._rung = True

    def wants_disarming(self) -> bool:
        """Armed while busy: every writer pays for a bell that nobody needs."""
        return self.armed and self.busy

    def wait(self) -> float:
        """Seconds until the next look; 0 is now."""
        if self.more:
            return 0.0
        since = self._clock() - self._looked_at
        if self._rung:
            return max(0.0, self._listen_wait - since) if self.busy else 0.0
        return max(0.0, self._longest() - since)

    def _longest(self) -> float:
        longest = self._poll
        if not self.armed:
            longest = self._listen_wait if self.busy else NAP
        elif self._last.skipped:
            longest = NAP
        due_in = self._last.due_in
        if due_in is None:
            return longest
        return min(longest, due_in if due_in >= 0 else self._listen_wait)
