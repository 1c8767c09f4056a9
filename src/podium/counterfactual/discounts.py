"""Rank discounts of off-policy evaluation: the weight of each document at the rank that a ranker gives it.

>>> from podium.formats.trec.trec import Run
>>> from podium.counterfactual.discounts import Discount, weigh
>>> weighed = weigh(Run.from_dict({"q": {"a": 2.0, "b": 1.0, "c": 1.0}}), Discount.parse("dcg@2"))
>>> weighed.weights.round(4).tolist()  # b and c share the second rank
[1.0, 0.3155, 0.3155]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from podium.base.arrays import AnyArray, Array, Flags, Ints
from podium.base.errors import DataError, ParameterError
from podium.clicks.propensity_file import Propensities
from podium.distributions import RankingDistribution
from podium.formats.trec.trec import Run
from podium.jit.sorting import order_all


@dataclass(frozen=True)
class Discount:
    """Discount of a rank: 1/log2(rank + 1) down to a cutoff, or its examination probability."""

    name: str
    cutoff: int | None = None  # of dcg
    examination: bool = False

    @classmethod
    def parse(cls, text: str) -> Discount:
        """Read `dcg`, `dcg@10` or `examination`."""
        head, at, cut = text.partition("@")
        if text == "examination":
            return cls(text, examination=True)
        if head != "dcg" or (at and not (cut.isdecimal() and int(cut) > 0)):
            raise ParameterError(f"no discount {text!r}. Known: dcg, dcg@10 (or another cut), examination.")
        return cls(text, int(cut) if at else None)

    def of(self, ranks: AnyArray, propensities: Propensities | None = None) -> Array:
        """Discount of each rank; 0 if its examination is not known."""
        if not self.examination:
            by_rank: Array = 1.0 / np.log2(ranks + 1.0)
            return by_rank if self.cutoff is None else np.where(ranks <= self.cutoff, by_rank, 0.0)
        assert propensities is not None, "examination is that of propensities"
        return np.nan_to_num(propensities.at(ranks)[0])


@dataclass(frozen=True, eq=False)
class Weighed:
    """Documents of a ranker with the discounts of their ranks; those of query q at offsets[q]:offsets[q+1]."""

    query_ids: AnyArray  # (Q,)
    offsets: Ints  # (Q+1,)
    document_ids: AnyArray  # (N,)
    weights: Array  # (N,) the expected discount


def weigh(
    run: Run,
    discount: Discount,
    *,
    propensities: Propensities | None = None,
    distribution: RankingDistribution | None = None,
) -> Weighed:
    """Discount each document of a run by its rank; tied scores share the mean of their discounts.

    With a distribution over rankings, the ranker draws its lists from it, and discounts are expectations.
    """
    sizes = np.diff(run.offsets)
    if (sizes == 0).all():
        raise DataError("the run ranks no documents.", where=run.source)
    by_rank = discount.of(np.arange(1, int(sizes.max()) + 1), propensities)
    weights = np.empty(len(run.scores))
    if distribution is not None:
        for a, b in zip(run.offsets[:-1].tolist(), run.offsets[1:].tolist(), strict=True):
            weights[a:b] = distribution.rank_marginals(run.scores[a:b]) @ by_rank[: b - a]
    else:
        rows, ends = order_all(run.scores, run.offsets)
        place = np.arange(len(rows)) - np.repeat(run.offsets[:-1], sizes)
        first = np.maximum.accumulate(np.where(_begins(place, ends), np.arange(len(rows)), 0))
        upto = np.append(0.0, np.cumsum(by_rank))
        starts = place[first]
        weights[rows] = (upto[ends] - upto[starts]) / (ends - starts)
    names = np.array([str(name) for name in run.query_ids], object)
    documents = np.array([str(name) for name in run.document_ids], object)
    return Weighed(names, run.offsets, documents, weights)


def _begins(place: Ints, ends: Ints) -> Flags:
    """Whether a group of equal scores begins at each row."""
    return np.asarray((place == 0) | (place == np.append(-1, ends[:-1])), np.bool_)
