"""Precision–recall curves of rankings, averaged over queries, and the AUC over the documents of all queries.

    >>> from podium.data.dataset import Dataset
    >>> from podium.evaluation.evaluate import evaluate
    >>> data = Dataset.from_arrays([[1], [2], [3], [4]], [0, 1, 1, 0], qid=["a", "a", "b", "b"])
    >>> scores = [0.1, 0.9, 0.4, 0.8]
    >>> curve = RecallCurve.of({"mine": evaluate(data, scores, levels())}, {"mine": auc(data.labels, scores)})
    >>> curve.precisions["mine"][-1], curve.aucs["mine"]
    (0.75, 0.75)

Formula: at each recall level 0, 0.05, …, 1 the mean over queries of the interpolated precision (`iprec`): the best
precision at or beyond that recall.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from podium.base.shown import Shown, ShownTable, Value
from podium.evaluation.evaluate import plain
from podium.metrics import IPrec, PairAccuracy

if TYPE_CHECKING:
    from podium.evaluation.evaluate import Evaluation

LEVELS = tuple(k / 20 for k in range(21))


def levels(preset: str | None = None) -> tuple[IPrec, ...]:
    """The metrics of the curve; `preset` computes them as a tool does."""
    metrics = [IPrec(recall=level) for level in LEVELS]
    return tuple(metrics if preset is None else [metric.with_preset(preset, keep=["recall"]) for metric in metrics])


def auc(labels: ArrayLike, scores: ArrayLike, *, relevant: float = 1.0) -> float:
    """Area under the ROC curve over all documents, as if they were of one query; NaN if all are relevant or none.

    It compares scores of different queries, which a ranking never does: use it for scores that mean the same in all
    queries, such as probabilities of a click. Documents without a label (NaN) are left out.

    >>> auc([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4])
    0.75
    """
    y, s = np.asarray(labels, np.float64), np.asarray(scores, np.float64)
    y, s = y[~np.isnan(y)], s[~np.isnan(y)]
    return float(PairAccuracy()(s, (y >= relevant).astype(np.float64), [0, len(y)])[0])


@dataclass(frozen=True, eq=False, repr=False)
class RecallCurve(Shown):
    """Mean interpolated precision at the recall levels, for each file."""

    precisions: dict[str, tuple[float, ...]]  # by name, at LEVELS
    aucs: dict[str, float]  # over all documents, by name
    queries: int  # that count: those with a relevant document

    @classmethod
    def of(cls, evaluations: Mapping[str, Evaluation], aucs: Mapping[str, float]) -> RecallCurve:
        """From evaluations by the metrics of `levels`."""
        averages = {name: list(evaluation.means().values()) for name, evaluation in evaluations.items()}
        counted = max((part.queries for parts in averages.values() for part in parts), default=0)
        return cls({name: tuple(p.value for p in parts) for name, parts in averages.items()}, dict(aucs), counted)

    def _shown(self) -> ShownTable:
        rows: list[list[Value]] = [
            [f"{level:.2f}", *(values[k] for values in self.precisions.values())] for k, level in enumerate(LEVELS)
        ]
        title = f"Precision at recall levels, mean of {self.queries} queries"
        return ShownTable(title, ["recall", *self.precisions], rows, notes=self.sentences())

    def sentences(self) -> list[str]:
        """The AUC of each file in words."""
        return [
            f"{name}: AUC over the documents of all queries {value:.4f}"
            for name, value in self.aucs.items()
            if not math.isnan(value)
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return {
            "recall": list(LEVELS),
            "precision": {name: list(map(plain, values)) for name, values in self.precisions.items()},
            "auc": {name: plain(value) for name, value in self.aucs.items()},
            "queries": self.queries,
        }
