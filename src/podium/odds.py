"""Odds: probabilities of ranks. A model's scores as a distribution over the rankings of each query.

Scores s have no unit. A distribution over rankings of s/T, with a temperature T fitted on validation data, turns them
into calibrated probabilities (`distributions/temperature.py`).

>>> import podium
>>> data, _ = podium.make_letor_like(60, seed=1)
>>> train, valid, test = podium.split(data)
>>> odds = podium.train(train, "ranking-svm", valid=valid).distribution(test)
>>> print(odds.how)
reverse Plackett–Luce, temperature 0.539 fitted on validation data
>>> float(odds[0].first.sum().round(12))  # one document comes first
1.0
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from podium.base.arrays import Array, Ints
from podium.base.errors import IncompatibleError, counted
from podium.base.shown import Shown, ShownTable, Value
from podium.distributions import PlackettLuce, RankingDistribution, ReversePlackettLuce
from podium.distributions.rank_summary import RankSummary
from podium.losses import Loss

if TYPE_CHECKING:
    from podium.distributions.temperature import Temperature
    from podium.learner import Learner


@dataclass(frozen=True, eq=False, repr=False)
class QueryOdds(Shown):
    """Distribution over the rankings of one query. Ranks are dense: tied documents share a rank."""

    distribution: RankingDistribution
    scores: Array  # (n,), over the temperature

    @functools.cached_property
    def _summary(self) -> RankSummary:
        return self.summary()

    @property
    def first(self) -> Array:
        """P(document i comes first), alone or tied."""
        return self._summary.first

    @property
    def expected_rank(self) -> Array:
        """Mean rank of each document."""
        return self._summary.expected

    def interval(self, level: float = 0.9) -> Ints:
        """Ranks [low, high] of each document: its rank is below, or above, with probability (1 − level)/2 at most."""
        summary = self.summary(level)
        return np.column_stack([summary.low, summary.high])

    def summary(self, level: float = 0.9) -> RankSummary:
        """P(first), expected rank and interval of each document."""
        return self.distribution.summary(self.scores, level=level)

    def rank_marginals(self) -> Array:
        """P(document i has rank r + 1) at [i, r]."""  # (n, n)
        return self.distribution.rank_marginals(self.scores)

    def prefers(self) -> Array:
        """P(document i comes before document j) at [i, j]."""  # (n, n)
        return self.distribution.prefers(self.scores)

    def sample(self, rng: np.random.Generator, size: int = 1) -> Ints:
        """Draw rankings from the distribution, one per row."""  # (size, n)
        return self.distribution.sample(self.scores, rng, size)

    def log_prob(self, ranks: ArrayLike) -> float:
        """Log-probability of a ranking."""
        return self.distribution.log_prob(self.scores, ranks)

    def _shown(self) -> ShownTable:
        return _shown_odds(f"Odds of {counted(len(self.scores), 'document')}", [], self.summary())


@dataclass(frozen=True, eq=False, repr=False)
class Odds(Shown):
    """Distributions over the rankings of all queries: `odds[q]` is that of query q."""

    distribution: RankingDistribution  # distribution of one query's rankings, given its scores
    scores: Array  # (N,) over the temperature
    offsets: Ints  # (Q+1,): scores offsets[q]:offsets[q+1] are query q
    temperature: float | None  # divisor of the scores; None if there is none
    how: str  # in words: the distribution, and the origin of its temperature
    rows: Ints | None = None  # (N,) the data's row of each score; None if in the data's order

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, q: int) -> QueryOdds:
        q = range(len(self))[q]
        return QueryOdds(self.distribution, self.scores[self.offsets[q] : self.offsets[q + 1]])

    def __iter__(self) -> Iterator[QueryOdds]:
        return (self[q] for q in range(len(self)))

    def summary(self, level: float = 0.9) -> RankSummary:
        """P(first), expected rank and interval of every document, in the row order of the data.

        `level`: the probability that an interval holds.
        """  # (N,) each
        parts = [query.summary(level) for query in self if len(query.scores)]
        kinds = {"first": np.float64, "expected": np.float64, "low": np.int64, "high": np.int64}
        joined: dict[str, Any] = {
            key: np.concatenate([np.empty(0, kind), *(getattr(part, key) for part in parts)])
            for key, kind in kinds.items()
        }
        if self.rows is not None:
            back = np.argsort(self.rows)
            joined = {key: values[back] for key, values in joined.items()}
        return RankSummary(**joined)

    def __repr__(self) -> str:
        sizes = f"{counted(len(self), 'query', 'queries')}, {counted(len(self.scores), 'document')}"
        return f"Odds({sizes}; {self.how})"

    def _repr_html_(self) -> str:
        """What notebooks show: the first query."""
        title = f"Odds of {counted(len(self), 'query', 'queries')}; the first one"
        table = _shown_odds(title, [self.how], self[0].summary()) if len(self) else ShownTable(repr(self), [], [])
        return table.html()

    def _shown(self) -> ShownTable:
        return _shown_odds(f"Odds of {counted(len(self), 'query', 'queries')}", [self.how], self.summary())


def _shown_odds(title: str, notes: list[str], summary: RankSummary) -> ShownTable:
    """A row per document, in the row order of the data."""
    columns = zip(
        summary.first.tolist(), summary.expected.tolist(), summary.low.tolist(), summary.high.tolist(), strict=True
    )
    rows: list[list[Value]] = [[row, *values] for row, values in enumerate(columns)]
    heads = ["row", "P(first)", "expected rank", "from", "to"]
    return ShownTable(title, heads, rows, notes=[*notes, "from, to: ranks of a 90 % interval"], bars=1)


def odds_of(
    learner: Learner,
    scores: Array,
    offsets: Ints,
    *,
    fitted: Temperature | None,
    with_ties: bool,
) -> Odds:
    """Odds from a learner's scores; `fitted` is None if no temperature was fitted on validation data."""
    loss = getattr(learner, "loss", None)
    own = loss.rank_distribution() if isinstance(loss, Loss) else None
    name = learner.name if loss is None else loss.name
    if with_ties:
        if own is None or not own[0].has_ties:
            raise IncompatibleError(
                f"{name} has no distribution over rankings with ties; pmop-* and pairties-* have one. "
                "Ask for odds without ties."
            )
        how = f"{name}'s own distribution over rankings with ties, as trained"
        return Odds(own[0], scores, offsets, None, f"{how}; {own[0].caution}" if own[0].caution else how)
    if fitted is not None:
        how = f"{_WORDS[fitted.distribution]}, temperature {fitted.temperature:.4g} fitted on validation data"
        return Odds(fitted.distribution, scores / fitted.temperature, offsets, fitted.temperature, how)
    if own is None or own[0].has_ties:
        why = "is not the likelihood of a ranking" if own is None else "is the likelihood of rankings with ties"
        raise IncompatibleError(
            f"{name} {why}, so its scores are not odds until a temperature is fitted on validation data, and this "
            "model has seen none with two grades in a query. "
            "Train it with some: podium train DATA --valid 0.2, or train(data, …, valid=0.2)."
        )
    words = _WORDS.get(own[0], repr(own[0]))
    how = f"{words}, as trained by {name}: there was no validation data to fit a temperature on"
    return Odds(own[0], scores / own[1], offsets, own[1], how)


_WORDS = {PlackettLuce(): "Plackett–Luce", ReversePlackettLuce(): "reverse Plackett–Luce"}
