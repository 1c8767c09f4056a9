"""Odds: the law of each query's ranking under a model, and the temperature that makes scores odds.

A model trained by the likelihood of a law over rankings has that law. Any other model has scores, whose scale means
nothing; Plackett–Luce on s/T, with one temperature T fitted on validation data, turns them into odds.

>>> import podium
>>> data, _ = podium.make_letor_like(60, seed=1)
>>> train, valid, test = podium.split(data)
>>> odds = podium.train(train, "ranking-svm", valid=valid).distribution(test)
>>> print(odds.how)
Plackett–Luce, temperature 0.672 fitted on validation data: squared-hinge is not the likelihood of a ranking
>>> float(odds[0].first.sum().round(12))  # one document comes first
1.0
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar

from podium.data.dataset import Dataset
from podium.distributions import RankingDistribution
from podium.distributions.plackett_luce import PlackettLuce
from podium.distributions.rank_summary import RankSummary
from podium.errors import IncompatibleError
from podium.learner import Learner
from podium.losses import Loss


@dataclass(frozen=True, eq=False)
class QueryOdds:
    """The law of one query's ranking. Where it has ties, ranks are dense, 1, 2, 2, 3, and to be first is to share 1."""

    law: RankingDistribution
    scores: NDArray[np.float64]  # (n,), as the law takes them

    @functools.cached_property
    def _short(self) -> RankSummary:
        return self.summary()

    @property
    def first(self) -> NDArray[np.float64]:
        """P(document i comes first), alone or tied."""
        return self._short.first

    @property
    def expected_rank(self) -> NDArray[np.float64]:
        """The mean rank of each document."""
        return self._short.expected

    def interval(self, level: float = 0.9) -> NDArray[np.int64]:
        """Ranks [low, high] of each document: it lies below or above with probability (1 − level)/2 each at most."""
        found = self.summary(level)
        return np.column_stack([found.low, found.high])

    def summary(self, level: float = 0.9) -> RankSummary:
        """All three, of any number of documents."""
        return self.law.summary(self.scores, level=level)

    def rank_marginals(self) -> NDArray[np.float64]:
        """P(document i has rank r + 1) at [i, r]."""  # (n, n)
        return self.law.rank_marginals(self.scores)

    def prefers(self) -> NDArray[np.float64]:
        """P(document i comes before document j) at [i, j]."""  # (n, n)
        return self.law.prefers(self.scores)

    def sample(self, rng: np.random.Generator, size: int = 1) -> NDArray[np.int64]:
        """Rankings drawn from the law, one per row."""  # (size, n)
        return self.law.sample(self.scores, rng, size)

    def log_prob(self, ranks: ArrayLike) -> float:
        """The logarithm of the probability of a ranking."""
        return self.law.log_prob(self.scores, ranks)


@dataclass(frozen=True, eq=False)
class Odds:
    """The law of every query's ranking: `odds[q]` is that of query q."""

    law: RankingDistribution
    scores: NDArray[np.float64]  # (N,) over the temperature
    offsets: NDArray[np.int64]  # (Q+1,)
    temperature: float | None  # what scores were divided by; None where the law takes them as they are
    how: str  # how the law came about, in words

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, q: int) -> QueryOdds:
        q = range(len(self))[q]
        return QueryOdds(self.law, self.scores[self.offsets[q] : self.offsets[q + 1]])

    def __iter__(self) -> Iterator[QueryOdds]:
        return (self[q] for q in range(len(self)))

    def summary(self, level: float = 0.9) -> RankSummary:
        """P(first), the expected rank and the interval of every document."""  # (N,) each
        parts = [query.summary(level) for query in self if len(query.scores)]
        kinds = {"first": np.float64, "expected": np.float64, "low": np.int64, "high": np.int64}
        joined: dict[str, Any] = {
            key: np.concatenate([np.empty(0, kind), *(getattr(part, key) for part in parts)])
            for key, kind in kinds.items()
        }
        return RankSummary(**joined)


def odds_of(
    learner: Learner, scores: NDArray[np.float64], offsets: NDArray[np.int64], *, fitted: float | None, strict: bool
) -> Odds:
    """The odds of a learner's scores; `fitted` is the temperature that validation data gave, if there was some."""
    loss = getattr(learner, "loss", None)
    known = loss.rank_distribution() if isinstance(loss, Loss) else None
    name = learner.name if loss is None else loss.name
    if known is not None and known[0].has_ties and not strict:
        how = f"{name}'s own law of rankings with ties, as trained"
        return Odds(known[0], scores, offsets, None, f"{how}; {known[0].caution}" if known[0].caution else how)
    if known is not None and not known[0].has_ties and not isinstance(known[0], PlackettLuce):
        law, temperature = known  # the temperature that validation data gave is one of Plackett–Luce
        how = f"{law.name}, {name}'s own distribution, as trained"
    elif known is not None and not known[0].has_ties:
        law, temperature = known[0], known[1] if fitted is None else fitted
        how = f"Plackett–Luce, {name}'s own law, " + (
            "as trained: there was no validation data to fit a temperature on"
            if fitted is None
            else f"temperature {fitted:.4g} fitted on validation data"
        )
    elif fitted is None:
        raise IncompatibleError(
            f"{name} {_WHY_NOT[known is not None]}, so its scores are no odds before a temperature is fitted on "
            "validation data, and this model has seen none with two grades in a query. "
            "Train it with some: podium train DATA --valid MORE, or train(data, …, valid=more)."
        )
    else:
        law, temperature = PlackettLuce(), fitted
        how = f"Plackett–Luce, temperature {fitted:.4g} fitted on validation data: {name} {_WHY_NOT[known is not None]}"
    return Odds(law, scores / temperature, offsets, temperature, how)


_WHY_NOT = {False: "is not the likelihood of a ranking", True: "is a law of rankings with ties"}

_MOST = 200_000  # documents that the fit looks at


def fit_temperature(scores: NDArray[np.float64], data: Dataset) -> float | None:
    """The T > 0 that makes the grades likeliest under Plackett–Luce on s/T; None where no query has two grades.

    The likelihood is that of what grades say and no more: every document comes before all of lower grade, in whatever
    order within a grade (`graded_race.py`). Its negative logarithm is convex in 1/T. The mean over the orders within a
    grade instead would make odds too flat, since most documents share the lowest grade; P(a document of the grade comes
    next), as in pmop-fd, would make them too sharp, since it asks for one document of a grade and not for all. Both are
    measured in docs/odds.md. A pair of typical distance, once won and once lost, is added to the data, so that a few
    queries without a mistake do not make for certainty.
    """
    assert data.labels is not None, "checked before training"
    queries = [(scores[a:b], data.labels[a:b], w) for a, b, w in _spread_out(data)]
    queries = [(s - s.mean(), y, w) for s, y, w in queries if len(s) and y.min() < y.max()]
    if not queries:
        return None
    spread = math.sqrt(np.mean([float(np.mean(s * s)) for s, _, _ in queries]))
    if not spread > 0:
        return 1.0  # every temperature gives the same odds
    scaled, law = [(s / spread, y, w) for s, y, w in queries], PlackettLuce()

    def cost(log_sharpness: float) -> float:
        sharpness = math.exp(log_sharpness)
        imagined = np.logaddexp(0.0, sharpness) + np.logaddexp(0.0, -sharpness)
        return float(imagined - sum(w * law.log_prob_of_grades(sharpness * s, y) for s, y, w in scaled))

    found = minimize_scalar(cost, bounds=(-7.0, 5.0), method="bounded", options={"xatol": 1e-4})
    return float(spread / math.exp(found.x))


def _spread_out(data: Dataset) -> Iterator[tuple[int, int, float]]:
    """Where queries begin and end, with their weights: all, or of a large dataset every k-th."""
    for q in range(0, data.n_queries, 1 + data.n_documents // _MOST):
        weight = 1.0 if data.query_weights is None else float(data.query_weights[q])
        yield int(data.offsets[q]), int(data.offsets[q + 1]), weight
