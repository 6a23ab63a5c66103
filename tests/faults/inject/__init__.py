"""What each kind of fault does, one file per group.

An injection strikes at once and returns what heals it; it raises `Missed` where there was nothing to hit, and
such a fault is not counted.
"""
