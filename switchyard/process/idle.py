"""How long a program that has nothing to do is silent: what can start before that wakes it up."""

LONGEST = 60.0
FACTOR = 12


def idle_pause(regular: float) -> float:
    """Twelve regular pauses, at most a minute; never less than the regular one."""
    return max(regular, min(FACTOR * regular, LONGEST))
