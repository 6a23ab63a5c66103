"""How figures are rounded."""


def rounded(value: float | None) -> float | None:
    """Two decimals, half to even, and never minus zero; as numpy rounds, to which results are compared."""
    return None if value is None else round(value * 100) / 100 + 0.0
