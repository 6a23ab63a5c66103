"""Occupancy and water use of a site (step 7), which the two modes compute differently.

The compatible mode looks up the joined catchment name; a site without a row gets the mean of the other sites
with the same works, so it needs the whole batch. The default mode needs only the site.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from assessment import row_warnings as words
from assessment.bundle.lookups import RateRow
from assessment.editions import Rates


@dataclass(frozen=True)
class SiteRates:
    occupancy: float | None
    litres: float | None
    warnings: tuple[str, ...] = ()


def of_site(
    category: str | None, areas: Mapping[str, float], table: Mapping[str, RateRow], standard: Rates
) -> SiteRates:
    """Rates by kind of dwelling if the table has them, else by catchment, weighted by area."""
    special = _by_category(category, areas, table)
    if special is not None:
        return SiteRates(special.occupancy, special.litres)
    if not areas:
        return SiteRates(
            standard.occupancy,
            standard.litres,
            (words.STANDARD_RATES(),),
        )
    missing = [name for name in areas if name not in table]
    rows = {n: table.get(n, RateRow(n, standard.occupancy, standard.litres)) for n in areas}
    warnings = [words.UNKNOWN_RATES(name=name) for name in missing]
    if len(areas) > 1:
        warnings.append(words.SEVERAL_CATCHMENTS())
    return SiteRates(
        _weighted({n: rows[n].occupancy for n in areas}, areas),
        _weighted({n: rows[n].litres for n in areas}, areas),
        tuple(warnings),
    )


def of_batch(
    joined: Sequence[str | None], works: Sequence[str], table: Mapping[str, RateRow]
) -> list[SiteRates]:
    """Rates by the joined catchment name; without a row, the mean of the other sites with the same works."""
    own = [table.get(name) if name else None for name in joined]
    mates: dict[str, list[RateRow]] = {}
    for row, code in zip(own, works, strict=True):
        if row is not None:
            mates.setdefault(code, []).append(row)
    return [
        SiteRates(row.occupancy, row.litres) if row is not None else _mean(mates.get(code, []))
        for row, code in zip(own, works, strict=True)
    ]


def _mean(rows: Sequence[RateRow]) -> SiteRates:
    if not rows:
        return SiteRates(None, None, (words.NO_RATES(),))
    return SiteRates(
        math.fsum(row.occupancy for row in rows) / len(rows),
        math.fsum(row.litres for row in rows) / len(rows),
        (words.MEAN_RATES(),),
    )


def _weighted(values: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """A weighted mean that is exact if all values are equal."""
    first = next(iter(values.values()))
    return first + sum(weights[n] * (values[n] - first) for n in values) / sum(weights.values())


def _by_category(
    category: str | None, areas: Mapping[str, float], table: Mapping[str, RateRow]
) -> RateRow | None:
    wanted = _plain(category or "")
    if not wanted:
        return None
    return next((row for name, row in table.items() if _plain(name) == wanted and name not in areas), None)


@lru_cache(maxsize=1024)
def _plain(text: str) -> str:
    """Letters and digits only, in lower case, so that 'Student accommodation' matches its row."""
    return re.sub(r"[^a-z0-9]+", "", text.casefold())
