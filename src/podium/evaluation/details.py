"""Details of one method on one fold for the HTML report, besides its metrics, as plain values for JSON.

curves      mean NDCG@k, P@k and MAP@k on the test data for k = 1…20
history     the iterations of the fit that validation chose: [iteration, objective, validation metric]
importance  feature importance; by permutation for models that cannot be decomposed
pairs       the two most informative pairs of test documents, explained
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from podium.base.arrays import Array
from podium.base.errors import DataError
from podium.evaluation.evaluate import plain
from podium.explanation.explain import explain_rows, feature_name
from podium.explanation.importance import importance
from podium.explanation.permutation import permuted
from podium.jit.sorting import order
from podium.metrics import Metric, evaluate_all

if TYPE_CHECKING:
    from podium.data.dataset import Dataset
    from podium.data.fold import Fold
    from podium.model import Model
    from podium.solvers import Step


@dataclass
class History:
    """Observer that records the iterations of every fit."""

    fits: list[list[Step]] = field(default_factory=list)

    def record(self, step: Step) -> None:
        """Record an iteration; the first one begins a fit."""
        if step.iteration == 1:
            self.fits.append([])
        if self.fits:
            self.fits[-1].append(step)

    def chosen_fit_history(self, info: Mapping[str, Any]) -> list[list[float | None]]:
        """At most 100 iterations of the chosen fit; empty if the fits seen are not those of its trials."""
        if len(self.fits) != len(info.get("trials", [0])):
            return []
        steps = self.fits[info.get("chosen", 0)]
        kept = np.unique(np.linspace(0, len(steps) - 1, min(len(steps), _MOST_STEPS)).round().astype(int))
        return [[steps[k].iteration, _finite(steps[k].value), _finite(steps[k].valid)] for k in kept]


def details(
    model: Model, fold: Fold, scores: Array, *, metrics: tuple[Metric, ...], history: History
) -> dict[str, Any]:
    """Everything that the HTML report shows of a model on a fold."""
    assert fold.test is not None, "checked before work started"
    return {
        "curves": _curves(fold.test, scores, metrics),
        "history": history.chosen_fit_history(model.info),
        "importance": _importance(model, fold, metrics[0]),
        "pairs": _pairs(model, fold.test, scores),
    }


def describe_fold(fold: Fold) -> dict[str, Any]:
    """The sizes and grades of a fold's parts."""
    parts = {"train": fold.train, "valid": fold.valid, "test": fold.test}
    return {
        "fold": fold.name,
        "features": fold.train.n_features,
        "parts": {name: _describe(part) for name, part in parts.items() if part is not None},
    }


_MOST_STEPS = 100
_CUTOFFS = range(1, 21)
_MOST_FEATURES = 30
_MOST_SHARES = 10
_PLACES = 10
"""Highest ranks in which informative pairs are sought."""


def _finite(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else float(value)


def _curves(test: Dataset, scores: Array, metrics: tuple[Metric, ...]) -> dict[str, Any]:
    """Each in the convention of the first such metric that is reported, else by the preset of the first metric."""
    assert test.labels is not None, "checked before work started"
    curves: dict[str, Any] = {}
    for name in ("NDCG", "P", "MAP"):
        default = Metric.parse(name.lower(), preset=metrics[0].convention.preset)
        metric = next((metric for metric in metrics if type(metric) is type(default)), default)
        several = [replace(metric, cutoff=k) for k in _CUTOFFS]
        try:
            values = evaluate_all(several, scores, test.labels, test.offsets, document_ids=test.document_ids)
        except DataError:  # labels that NDCG has no gain for, if another metric is reported
            continue
        curves[name] = {
            "metric": replace(metric, cutoff=None).tag(),
            "values": [plain(each.average(row).value) for each, row in zip(several, values, strict=True)],
        }
    return curves


def _importance(model: Model, fold: Fold, metric: Metric) -> dict[str, Any] | None:
    assert fold.test is not None, "checked before work started"
    train = fold.train
    ranked = importance(model, model.align_features(train))
    if ranked is None:
        ranked = permuted(model, model.align_features(fold.test), metric)
    if ranked is None:
        return None
    shares, how = ranked
    top = [int(l) for l in np.argsort(-shares, kind="stable")[:_MOST_FEATURES] if shares[l] > 0]
    return {"how": how, "features": {feature_name(model, train, l): float(shares[l]) for l in top}}


def _pairs(model: Model, test: Dataset, scores: Array) -> list[dict[str, Any]]:
    pairs = []
    for kind, pair in zip(("mistake", "success"), most_informative_pairs(test, scores), strict=True):
        explained = None if pair is None else explain_rows(model, test, pair[0], pair[1:])
        if explained is not None:
            pairs.append({"kind": kind, **explained.to_dict(most=_MOST_SHARES)})
    return pairs


def most_informative_pairs(data: Dataset, scores: Array) -> list[tuple[int, int, int] | None]:
    """The pair whose wrong order costs most, and the one whose right order earns most: (query, upper, lower row).

    By |y_i − y_j| · |1/log₂(1 + rank_i) − 1/log₂(1 + rank_j)| within the first ten ranks; None if there is none.
    """
    assert data.labels is not None, "checked before work started"
    best: list[tuple[float, tuple[int, int, int] | None]] = [(0.0, None), (0.0, None)]
    for q in range(data.n_queries):
        rows = slice(int(data.offsets[q]), int(data.offsets[q + 1]))
        ranked = order(scores[rows])[:_PLACES]
        y, s = data.labels[rows][ranked], scores[rows][ranked]
        discount = 1.0 / np.log2(np.arange(len(y)) + 2.0)
        worth = (y[:, None] - y) * (discount[:, None] - discount) * (s[:, None] > s)  # (≤ 10, ≤ 10)
        for k, sign in enumerate((-1.0, 1.0)):
            if worth.size and (sign * worth).max() > best[k][0]:
                i, j = np.unravel_index(int((sign * worth).argmax()), worth.shape)
                best[k] = float((sign * worth).max()), (q, int(ranked[i]), int(ranked[j]))
    return [pair for _, pair in best]


def _describe(data: Dataset) -> dict[str, Any]:
    grades, counts = (np.empty(0), np.empty(0)) if data.labels is None else np.unique(data.labels, return_counts=True)
    few = len(grades) <= 20
    return {
        "queries": data.n_queries,
        "documents": data.n_documents,
        "grades": {f"{grade:g}": int(count) for grade, count in zip(grades, counts, strict=True)} if few else None,
        "digest": data.digest(),
    }
