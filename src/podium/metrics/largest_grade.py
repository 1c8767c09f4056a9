"""Scales of grades: the largest grade, which metrics need that turn a grade into a number within 0 and 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podium.base.arrays import Array
from podium.base.errors import DataError
from podium.jit.compiled import compiled
from podium.metrics.declaration import Words

if TYPE_CHECKING:
    from podium.metrics.base import Metric

GRADE_WORDS: Words = {
    "max_grade": ("the largest grade is", lambda grade: "the largest label found" if grade is None else str(grade))
}
"""Words of `podium reconcile` for a metric's `max_grade`."""


def largest_grade(metric: Metric, max_grade: float | None, largest_label: float) -> float:
    """The scale's largest grade: `max_grade`, or the largest label; a label above it is refused."""
    if max_grade is not None and largest_label > max_grade:
        raise DataError(f"{metric}: a label is {largest_label:g}, above max_grade={max_grade:g}. Raise max_grade.")
    return largest_label if max_grade is None else max_grade


def per_grade(metric: Metric, max_grade: float | None, largest_label: float) -> float:
    """1/max, by which a label becomes a gain within 0 and 1; 0 if no label is above 0."""
    largest = largest_grade(metric, max_grade, largest_label)
    return 1.0 / largest if largest > 0.0 else 0.0


@compiled
def mean_gain(labels: Array, start: int, end: int) -> float:
    """The mean label at places start…end − 1; negative ones count 0."""
    total = 0.0
    for place in range(start, end):
        total += max(labels[place], 0.0)
    return total / (end - start)
