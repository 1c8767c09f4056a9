"""Fewer documents: queries of at most m documents for an epoch, as lists of fixed length are in other libraries.

Those with a label above the least of their query come first, drawn if they are more than m − 1; the others fill up.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from podium.base.arrays import Array, Flags
from podium.base.errors import IncompatibleError
from podium.problem import Problem

if TYPE_CHECKING:
    from podium.data.dataset import Dataset


def refuse_other_data(problem: Problem, solver: str) -> None:
    """Raise a clear error for data whose documents cannot be left out."""
    data = problem.data
    if type(problem) is not Problem:
        raise IncompatibleError(f"{solver}(documents=…) does not learn on a cluster. Leave documents out.")
    if data.labels is None or any(part is not None for part in (data.preferences, data.topics, data.relations)):
        raise IncompatibleError(
            f"{solver}(documents=…) chooses documents by their labels, but the data has none, or has preferences, "
            "topics or relations. Leave documents out."
        )


def fewer_documents(problem: Problem, most: int, rng: np.random.Generator, scores: Array | None) -> Problem:
    """The problem with at most `most` documents of each query; the others by `scores`, or drawn if there are none."""
    return replace(problem, data=problem.data.keep_documents(chosen(problem.data, most, rng, scores)))


def chosen(data: Dataset, most: int, rng: np.random.Generator, scores: Array | None) -> Flags:
    """Which documents stay."""  # (N,)
    assert data.labels is not None, "see `refuse_other_data`"
    query, least = data.query_index, np.full(data.n_queries, np.inf)
    np.minimum.at(least, query, data.labels)
    above, chance = data.labels > least[query], rng.random(data.n_documents)

    def first(count: int, *keys: Array | Flags) -> Flags:
        """The first documents of each query in the order of the keys, of which the last comes first."""
        order = np.lexsort((*keys, query))
        flags = np.empty(data.n_documents, bool)
        flags[order] = np.arange(data.n_documents) - data.offsets[query] < count
        return flags

    certain = above & first(most - 1, chance, ~above)
    rank = np.where(certain, 0, np.where(above, 2, 1))
    return first(most, chance if scores is None else -scores, rank)
