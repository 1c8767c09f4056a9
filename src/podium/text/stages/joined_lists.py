"""Lists of documents that other retrievals return: read in order, and joined by their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from podium.base.arrays import Array, Ints
from podium.base.errors import ParameterError
from podium.text.retrieval.base import Retrieval, Where

if TYPE_CHECKING:
    from podium.text.index.index import Index
    from podium.text.query import Query


class Ranked(NamedTuple):
    """Documents, best first; of equal scores, the lower number first."""

    scores: Array
    numbers: Ints


def ranked(of: Retrieval, index: Index, query: Query, k: int, where: Where | None) -> Ranked:
    """The k best documents of a retrieval."""
    return best_first(*of.best(index, query, k, where), k)


def best_first(scores: Array, numbers: Ints, k: int) -> Ranked:
    order = np.lexsort((numbers, -scores))[:k]
    return Ranked(scores[order], numbers[order])


def from_sums(sums: Mapping[int, float], k: int) -> Ranked:
    """The k documents with the highest scores."""
    numbers, scores = np.fromiter(sums, np.int64, len(sums)), np.fromiter(sums.values(), np.float64, len(sums))
    return best_first(scores, numbers, k)


def check_parts(stage: str, of: Sequence[Retrieval]) -> None:
    if not of:
        raise ParameterError(f"{stage}: no retrieval to join. Write {stage}(of=[bm25,ql]).")
