"""Several labels of one document, such as relevance, margin and freshness: goals that one model is trained for.

>>> import numpy as np
>>> from podium.data.dataset import Dataset
>>> data = Dataset.from_arrays(np.eye(2), [1, 0], qid=["q", "q"])
>>> both = several_goals(data, {"relevance": [1, 0], "margin": [0, 3]}, weights={"relevance": 1, "margin": 0.2})
>>> both.query_ids.tolist(), both.labels.tolist(), both.query_weights.tolist()
(['q/relevance', 'q/margin'], [1.0, 0.0, 0.0, 3.0], [1.0, 0.2])
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from podium.base.errors import DataError, ParameterError
from podium.data.array_parts import label_array
from podium.data.dataset import Dataset
from podium.data.table import Table


def goals_in_order(data: Table, labels: Mapping[str, ArrayLike]) -> Table:
    """Give data one label that orders documents by the first goal, ties by the second, and so on (lexicographic).

    y = y₁ + ½g·r/m: g is the least difference of two labels of the first goal, r the rank from 0, in the order of the
    other goals, among their m different combinations. So documents of a higher first label stay half a step above all
    others, and every loss and metric of grades can be used. A document without a label of a goal is not judged.

    >>> data = Dataset.from_arrays(np.eye(3), [1, 1, 0], qid=["q"] * 3)
    >>> goals_in_order(data, {"relevance": [1, 1, 0], "freshness": [2, 5, 9]}).labels.tolist()
    [1.0, 1.1666666666666667, 0.3333333333333333]
    """
    if len(labels) < 2:
        raise ParameterError(f"goals in order: at least two are needed; got {sorted(labels)}.")
    _refuse_others(data)
    columns = [label_array(own, data.n_documents, f"goal {name}") for name, own in labels.items()]
    levels, rest = np.unique(columns[0]), np.stack(columns[1:], axis=1)
    levels = levels[np.isfinite(levels)]
    gap = float(np.diff(levels).min()) if len(levels) > 1 else 1.0
    combinations, rank = np.unique(rest, axis=0, return_inverse=True)
    combined = columns[0] + 0.5 * gap * rank.reshape(-1) / len(combinations)
    combined[np.isnan(rest).any(axis=1)] = np.nan
    return replace(data, labels=combined)


def several_goals(data: Table, labels: Mapping[str, ArrayLike], *, weights: Mapping[str, float]) -> Dataset:
    """Make data with each query once for each goal: with the goal's labels, a number per row, and the goal's weight.

    Training on it minimises Σ_k w_k L(s, y_k) over the goals k, exactly, for any loss, scorer and solver. Split the
    data into training, validation and test queries first: copies of a query must not be on both sides.
    """
    if not labels or labels.keys() != weights.keys():
        raise ParameterError(
            f"goals: labels are of {sorted(labels)}, weights of {sorted(weights)}. Name the same goals."
        )
    for name, weight in weights.items():
        if not (np.isfinite(weight) and weight > 0):
            raise ParameterError(
                f"goals: the weight of {name} must be above 0; got {weight}. Leave the goal out instead."
            )
    _refuse_others(data)
    whole, m = data.grouped(), len(labels)
    copies = whole.select(np.repeat(np.arange(whole.n_queries), m))
    goal = np.tile(np.arange(m), whole.n_queries)
    stacked = np.empty(copies.n_documents)
    for k, (name, own) in enumerate(labels.items()):
        graded = label_array(own, data.n_documents, f"goal {name}")
        stacked[np.repeat(goal == k, copies.sizes)] = data.to_grouped(graded)
    factor, before = np.array([weights[name] for name in labels], np.float64)[goal], copies.query_weights
    ids = [f"{whole.query_name(q)}/{name}" for q in range(whole.n_queries) for name in labels]
    return replace(
        copies, labels=stacked, query_ids=np.array(ids, dtype=object),
        query_weights=factor if before is None else before * factor,
    )  # fmt: skip


def _refuse_others(data: Table) -> None:
    if data.preferences is not None or data.topics is not None or data.document_weights is not None:
        raise DataError(
            "goals are labels, but this data has preferences, topics or document weights. Leave them out.",
            where=data.source,
        )
