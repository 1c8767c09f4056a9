"""Gains of labels under a convention, as tables that kernels read; labels without a gain are refused."""

from __future__ import annotations

import math

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import DataError
from podium.jit.compiled import compiled
from podium.jit.tiers import LIMIT
from podium.metrics.conventions import LARGEST_EXPONENT, Convention, write_convention


@compiled
def exp2_gain(label: float) -> float:
    """Gain 2^y − 1 of label y, as in NDCG and the losses that optimise it."""
    return 2.0**label - 1.0  # type: ignore[no-any-return]


def survey(labels: Array) -> tuple[float, float, float]:
    """The smallest label or 0, the largest or 0, and any fractional one or 0; NaN and infinities stay."""
    if len(labels) > LIMIT:
        return _survey(labels)
    fractional = labels[labels != np.floor(labels)]
    odd = 0.0 if not len(fractional) else math.nan if np.isnan(fractional).any() else float(fractional[-1])
    return float(np.fmin.reduce(labels, initial=0.0)), float(np.fmax.reduce(labels, initial=0.0)), odd


@compiled
def _survey(labels: Array) -> tuple[float, float, float]:
    low, high, others = np.int32(0), np.int32(0), np.int32(0)
    for label in labels:  # whole numbers, several at a time
        whole = np.int32(min(max(label, -_WHOLE), _WHOLE))
        low, high = np.int32(min(low, whole)), np.int32(max(high, whole))
        others |= np.int32(np.float64(whole) != label)
    if others:
        return _survey_any(labels)
    return float(low), float(high), 0.0


@compiled
def _survey_any(labels: Array) -> tuple[float, float, float]:
    low, high, odd = 0.0, 0.0, 0.0
    for label in labels:
        low, high = min(low, label), max(high, label)
        if label != np.floor(label) and odd == odd:  # once NaN, it stays
            odd = label
    return low, high, odd


def gain_table(how: Convention, low: float, high: float, odd: float) -> Array | None:
    """The gain of each label from 0 up; None if gains are computed from the label."""
    if not isinstance(how.gain, tuple) and (low < 0 or high >= _TABLE_SIZE or odd != 0):
        return None
    grades = np.arange(int(high) + 1, dtype=np.float64)
    if isinstance(how.gain, tuple):
        gains = np.array(how.gain[: len(grades)])
    else:
        gains = grades if how.gain == "linear" else 2.0**grades - 1.0
    return np.where(grades < (-np.inf if how.floor is None else how.floor), 0.0, gains)


def check_labels(name: str, how: Convention, *, low: float, high: float, odd: float) -> None:
    """Raise a clear error if a label between the smallest and the largest has no gain."""
    if low < 0 and how.floor is None:
        raise DataError(
            f"{name}: a label is {low:g}, and a gain for labels below 0 is not defined. "
            "Add floor=0 to the metric's convention to count them as 0, or shift the labels."
        )
    if isinstance(how.gain, tuple):
        if low < 0 or high >= len(how.gain) or odd != 0:
            wrong = low or odd or high
            raise DataError(
                f"{name}: label {wrong:g} has no gain in the table {write_convention({'gain': how.gain})}, "
                f"which is for labels 0 to {len(how.gain) - 1}. Use another preset or gain, e.g. gain=exp2."
            )
    elif how.gain == "exp2" and high > LARGEST_EXPONENT:
        raise DataError(
            f"{name}: a label is {high:g}, and the gain 2^label − 1 is meant for grades up to {LARGEST_EXPONENT}. "
            "Use gain=linear, or smaller grades."
        )


_WHOLE = 1e9
_TABLE_SIZE = 64  # labels for which gains are looked up
