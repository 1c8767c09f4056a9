"""Check of labels for losses with the gain 2^y − 1 (`podium.metrics.kernels.exp2_gain`)."""

from __future__ import annotations

from podium.base.arrays import Array
from podium.base.errors import DataError
from podium.metrics.conventions import LARGEST_EXPONENT


def check_gains(name: str, labels: Array, *, negative: bool = False) -> None:
    """Raise DataError if a label is too large for 2^y, or negative without `negative`."""
    low, high = labels.min(initial=0.0), labels.max(initial=0.0)
    if low < 0 and not negative:
        raise DataError(f"{name} needs labels of at least 0, whose gain is 2^y − 1; got {low:g}. Shift the labels.")
    if high > LARGEST_EXPONENT:
        raise DataError(
            f"{name} weighs documents by 2^label, which is meant for grades up to {LARGEST_EXPONENT}; got {high:g}. "
            "Use smaller grades."
        )
