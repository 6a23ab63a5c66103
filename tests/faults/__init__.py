"""The fault campaign: everything that runs, load on it, a seeded plan of faults, and what must hold after each round.

`python -m tests.faults --seed 7 --faults 200`; docs/faults.md says what it does and how to read it.
"""
