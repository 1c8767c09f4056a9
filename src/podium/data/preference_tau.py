"""Agreement of scores with preferences: Kendall's τ over the pairs that are stated, for partial orders.

>>> from podium.data.dataset import Dataset
>>> data = Dataset.from_label_rankings([[1.0], [1.0]], [[("a", "b"), ("a", "c")], [("b", "c")]])
>>> preference_tau(data, [3, 2, 4, 1, 1, 1]).tolist()
[0.0, 0.0]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array
from podium.base.columns import float_numbers
from podium.base.errors import DataError
from podium.data.table import Table
from podium.jit.sorting import check_scores


def preference_tau(data: Table, scores: ArrayLike) -> Array:
    """τ of each query: (pairs in order − pairs in disorder)/pairs, weighted; NaN for queries without a preference.

    A pair of equal scores counts 0. If the preferences are a whole order without ties, and no scores are equal, this
    is Kendall's τ.
    """  # (Q,)
    values = float_numbers(scores, "score")
    if data.preferences is None:
        raise DataError("there are no preferences; for grades use the metric kendall.", where=data.source)
    if len(values) != data.n_documents:
        raise DataError(f"{len(values)} scores for {data.n_documents} documents.", where=data.source)
    check_scores(values)
    values, grouped = data.to_grouped(values), data.grouped()
    edges, cuts = data.preferences.edges, data.preferences.offsets
    query = np.repeat(np.arange(grouped.n_queries), np.diff(cuts))
    winner, loser = (values[grouped.offsets[query] + edges[:, side].astype(np.int64)] for side in (0, 1))
    signs = np.sign(winner - loser) * (2.0 * edges[:, 2] - 1.0) * edges[:, 3]
    agreed = np.bincount(query, signs, minlength=grouped.n_queries)
    stated = np.bincount(query, edges[:, 3], minlength=grouped.n_queries)
    with np.errstate(invalid="ignore"):
        return np.asarray(agreed / np.where(stated > 0, stated, np.nan))
