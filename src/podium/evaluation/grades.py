"""Evaluation of predicted grades against labels: ordinal classification, where grades count and not their order.

>>> evaluate_grades([0, 1, 2, 2], [0, 1, 1, 2])
GradeEvaluation(documents=4, mae=0.25, accuracy=0.75, quadratic_kappa=0.8)
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array
from podium.base.columns import check_row_order, float_numbers
from podium.base.errors import DataError
from podium.data.array_parts import label_array
from podium.data.frames import from_frame
from podium.data.inputs import is_frame
from podium.data.table import Table
from podium.evaluation.evaluate import plain


@dataclass(frozen=True)
class GradeEvaluation:
    """How near predicted grades are to labels, over all documents that have a label."""

    documents: int
    mae: float
    """Mean absolute error."""
    accuracy: float
    """Share of documents with exactly the right grade."""
    quadratic_kappa: float
    """Cohen's κ with weights (g − h)²; NaN if labels and predictions are all one grade."""

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON, by the names that are printed; NaN is null."""
        return {name.replace("_", "-"): plain(value) for name, value in asdict(self).items()} | {
            "documents": self.documents
        }


def evaluate_grades(data: Any, grades: ArrayLike) -> GradeEvaluation:
    """Compare predicted grades, as of `Model.grades`, with labels in the same row order.

    `data` is a Dataset, a frame with a column label, or the labels themselves. Documents of a dataset that were not
    judged (NaN) do not count. Every document counts alike, whatever its query.

    Formula: mae = mean |g − y|; accuracy = mean 1[g = y]; quadratic-kappa = 1 − mean (g − y)² / (var g + var y +
        (mean g − mean y)²), the divisor being the expectation of (g − y)² were the two independent. Grades count by
        their values, so that 0 and 3 are three apart even if no document has the grades between.

    `grades`: a finite number per document (N,).
    """
    check_row_order(labels=data, grades=grades)
    labels, where = _labels(data)
    predicted = float_numbers(grades, "grade")
    if predicted.shape != labels.shape:
        raise DataError(f"{len(labels)} documents, but grades of shape {predicted.shape}. Give one each.", where=where)
    bad = np.flatnonzero(~np.isfinite(predicted))
    if len(bad):
        raise DataError(f"row {bad[0]}: the grade is {predicted[bad[0]]}, no finite number.", where=where)
    judged = ~np.isnan(labels)
    if not judged.any():
        raise DataError("no document has a label to compare grades with.", where=where)
    g, y = predicted[judged], labels[judged]
    apart = g - y
    by_chance = g.var() + y.var() + (g.mean() - y.mean()) ** 2
    kappa = 1.0 - np.mean(apart**2) / by_chance if by_chance > 0 else np.nan
    return GradeEvaluation(len(g), float(np.abs(apart).mean()), float(np.mean(apart == 0)), float(kappa))


def _labels(data: Any) -> tuple[Array, str | None]:
    """The labels of data, and where they are from."""
    if is_frame(data) and len(data.columns) > 1:  # a frame of one column is read as its numbers
        data = from_frame(data, features=[])
    if not isinstance(data, Table):
        numbers = float_numbers(data, "label")
        return label_array(numbers, len(numbers), None), None
    if data.labels is None:
        raise DataError("there are no labels to compare grades with.", where=data.source)
    return np.asarray(data.labels, np.float64), data.source
