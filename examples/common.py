"""Shared by the examples: scores of held-out queries, and a table with significance tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.data import Dataset, k_folds
from podium.evaluation.significance import compare_systems
from podium.training import train

Values = Mapping[str, Mapping[str, ArrayLike]]
"""By metric and by system, a value for each query."""


def held_out_scores(
    data: Dataset, method: str, *, metric: str = "ndcg@10", folds: int = 5, seed: int = 0
) -> NDArray[np.float64]:
    """Cross-validation: scores of documents by models that have not seen their query.

    Each part of the queries is test data once. The next part tunes the method's hyperparameters by `metric`; the others
    train it.
    """
    assert data.query_ids is not None
    place = {query: q for q, query in enumerate(data.query_ids)}
    scores = np.full(data.n_documents, np.nan)
    for fold in k_folds(data, folds, seed=seed):
        assert fold.test is not None
        assert fold.test.query_ids is not None
        fold_scores = train(fold.train, method, valid=fold.valid, metric=metric, seed=seed).score(fold.test)
        for q, query in enumerate(fold.test.query_ids):
            at = slice(data.offsets[place[query]], data.offsets[place[query] + 1])
            scores[at] = fold_scores[fold.test.offsets[q] : fold.test.offsets[q + 1]]
    return scores


def print_table(values: Values, *, baseline: str) -> None:
    """Print the mean of each metric, and the p-value of its difference to the baseline.

    p is of the paired randomisation test, corrected by Holm for the number of systems.
    """
    metrics = list(values)
    systems = list(values[metrics[0]])
    width = max(len(system) for system in systems) + 2
    print(" " * width + "".join(f"{metric:>10}  {'p':>6}" for metric in metrics))
    tested = {metric: _p_values(values[metric], systems, baseline) for metric in metrics}
    for system in systems:
        row = f"{system:<{width}}"
        for metric in metrics:
            p = tested[metric].get(system)
            row += f"{np.nanmean(values[metric][system]):>10.4f}  {'' if p is None else _p(p):>6}"
        print(row.rstrip())
    counts = {int(np.isfinite(np.asarray(values[metric][baseline])).sum()) for metric in metrics}
    print(f"{' and '.join(map(str, sorted(counts)))} queries; p against {baseline}, corrected by Holm")


def _p_values(values: Mapping[str, ArrayLike], systems: Sequence[str], baseline: str) -> dict[str, float]:
    comparison = compare_systems([values[name] for name in systems], systems, baseline=baseline)
    return {(pair.a if pair.b == baseline else pair.b): pair.adjusted for pair in comparison.pairs}


def _p(p: float) -> str:
    return "<.001" if p < 0.001 else f"{p:.3f}"
