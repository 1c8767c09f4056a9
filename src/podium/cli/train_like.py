"""`podium train --like`: weights of queries by which the training data is like other data."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from podium.cli import console

if TYPE_CHECKING:
    from podium.data.table import Table


def weighted_like(training: Table, like: str, *, seed: int) -> tuple[Table, dict[str, Any]]:
    """The training data with weights of queries, times their own, and a record of them."""
    import numpy as np

    from podium.cli.judges_next import read_pool
    from podium.data.covariate_shift import LEAST_EFFECTIVE, shift_weights
    from podium.data.inputs import align_features, widened

    source, target = training.grouped(), read_pool(like, label=None, qid=None).grouped()
    if target.feature_names is None:
        source, target = (widened(part, max(source.n_features, target.n_features)) for part in (source, target))
    elif source.query_features is None:
        target = align_features(target, source.feature_names)
    learned = np.ones(source.n_documents, np.bool_) if source.labels is None else ~np.isnan(source.labels)
    queries = np.unique(source.query_index[learned])  # those with a judgment
    shift = shift_weights(source.select(queries), target, seed=seed)
    weights = np.ones(source.n_queries)
    weights[queries] = shift.weights
    if shift.too_few:
        console.say(
            f"warning: --like {like}: weights are worth {shift.effective:.0f} of {len(shift.weights)} queries, below "
            f"{LEAST_EFFECTIVE:.0%}. The two are too different; judge queries of {like}, or leave --like out."
        )
    own = 1.0 if training.query_weights is None else training.query_weights
    record = {
        "data": like,
        "queries": len(shift.weights),
        "effective": round(shift.effective, 1),
        "least": float(shift.weights.min()),
        "most": float(shift.weights.max()),
    }
    return replace(training, query_weights=weights * own), record
