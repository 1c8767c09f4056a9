"""A stored number compared with those of the other documents on the page as a feature: cheap or expensive here."""

from __future__ import annotations

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.registry import register
from podium.clicks.behaviour.base import BehaviourFeature, Counts, check_field

_LARGEST = float(np.finfo(np.float32).max)


@register
class FromMedian(BehaviourFeature):
    """How far a stored number is from the median of the page's documents, as a share of it: −0.2 is 20 % below.

    Formula: (x − m)/|m| with m the median over the documents of the page that have a number, of an even count the mean
    of the middle two. 0 if x = m; missing without a number, or if m = 0 otherwise.

    Use it for prices and other amounts above 0.
    """

    name = "from_median"
    field: str
    """Stored field with the number."""

    def __post_init__(self) -> None:
        super().__post_init__()
        check_field(self.name, self.field)

    def values(self, counts: Counts) -> Array:
        numbers = counts.numbers(self.field)
        medians = _medians(numbers, counts.pages)
        with np.errstate(over="ignore"):
            share = np.divide(numbers - medians, np.abs(medians), out=np.full_like(numbers, np.nan), where=medians != 0)
        share = np.where(numbers == medians, 0.0, share)
        return np.where(np.abs(share) <= _LARGEST, share, np.nan)

    def stored_fields(self) -> set[str]:
        return {self.field}


def _medians(numbers: Array, pages: Ints) -> Array:
    """Median of the page of each document; NaN if no document of it has a number."""
    if not len(numbers):
        return numbers
    _, starts, page_of, sizes = np.unique(pages, return_index=True, return_inverse=True, return_counts=True)
    ordered = numbers[np.lexsort((numbers, pages))]  # NaN comes last
    n = np.add.reduceat(~np.isnan(numbers), starts, dtype=np.int64)
    low, high = (starts + np.clip(middle, 0, sizes - 1) for middle in ((n - 1) // 2, n // 2))
    medians: Array = 0.5 * ordered[low] + 0.5 * ordered[high]
    return medians[page_of.reshape(-1)]
