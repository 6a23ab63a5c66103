"""How long an idle program waits between heartbeats; new work wakes it earlier."""

LONGEST = 60.0
FACTOR = 12


def idle_pause(regular: float) -> float:
    """Twelve regular pauses, but at most a minute, and never less than one regular pause."""
    return max(regular, min(FACTOR * regular, LONGEST))
