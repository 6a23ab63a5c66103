"""Rounding of figures."""


def rounded(value: float | None) -> float | None:
    """Round to two decimals, half to even, without minus zero, as numpy does: results are compared to it."""
    return None if value is None else round(value * 100) / 100 + 0.0
