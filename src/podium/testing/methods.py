"""Contract suite of named methods: docs, a grid of its own parameters, and odds that are probabilities of ranks."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from podium.base.registry import write
from podium.learner import Learner
from podium.losses import Loss
from podium.methods import Method
from podium.model import Model
from podium.odds import Odds
from podium.testing.examples import linear_data, short
from podium.testing.learners import check_learner
from podium.testing.names import page_has_headings
from podium.testing.numbers import near
from podium.training import train


def check_method(method: Method, *, reaches: float = 0.8, supervised: bool = True) -> None:
    """Run every check of methods, and every check of learners on its learner."""
    check_learner(method.learner, reaches=reaches, supervised=supervised)
    for check in METHOD_CHECKS.values():
        check(method)


def its_page_has_the_fixed_headings(method: Method) -> None:
    """Formula, ties, cost and use, in this order, in the docstring of the method's main part."""
    page_has_headings(method.about(), ("Formula", "Ties", "Cost", "Use it for"))


def its_grid_holds_settings_of_its_own(method: Method) -> None:
    """Every value of the grid makes another learner."""
    for key, values in method.grid.items():
        assert method.learner.has_parameter(key), f"the grid names {key!r}, which {method.learner} does not have"
        learners = [method.learner.changed({key: write(value)}) for value in values]
        assert len(set(map(repr, learners))) == len(values), f"values of {key!r} make equal learners: {learners}"


def odds_are_probabilities(method: Method) -> None:
    """Rank marginals sum to 1, the first column is P(first), and intervals leave out as little as they say."""
    for odds in _all_odds(_trained(method.learner)):
        for query in odds:
            marginals = query.rank_marginals()
            near(marginals.sum(axis=1), np.ones(len(marginals)), 1e-8, "sums over ranks")
            near(query.first, marginals[:, 0], 1e-9, "P(first) against rank marginals")
            total = query.first.sum()
            assert total >= 1 - 1e-8, f"P(first) sums to {total}"
            assert odds.distribution.has_ties or total <= 1 + 1e-8, f"P(first) sums to {total}"
            low, high = query.interval().T
            assert (low >= 1).all() and (low <= high).all() and (high <= len(low)).all(), f"intervals {low} to {high}"
            inside = [row[a - 1 : b].sum() for row, a, b in zip(marginals, low, high, strict=True)]
            assert min(inside) >= 0.9 - 1e-6, f"an interval of 90 % holds {min(inside)}"


def higher_scores_have_better_odds(method: Method) -> None:
    """Of two documents the one with the higher score is first more often, and has the better expected rank."""
    odds = _all_odds(_trained(method.learner))[0]
    assert not odds.distribution.has_ties, f"default odds are of {odds.distribution}, which has ties"
    for query in odds:
        order = np.argsort(-query.scores)
        assert (np.diff(query.first[order]) <= 1e-12).all(), f"P(first) is {query.first} at scores {query.scores}"
        assert (np.diff(query.expected_rank[order]) >= -1e-8).all(), f"expected ranks are {query.expected_rank}"


def a_file_gives_the_odds_back(method: Method) -> None:
    """A saved model has the same odds, to the bit."""
    with TemporaryDirectory() as folder:
        _trained(method.learner).save(Path(folder, "model"))
        loaded = Model.load(Path(folder, "model"))
    for saved, other in zip(_all_odds(_trained(method.learner)), _all_odds(loaded), strict=True):
        assert saved.how == other.how, f"odds are by {saved.how!r}, of the loaded model by {other.how!r}"
        for key in ("first", "expected", "low", "high"):
            same = getattr(saved.summary(), key).tobytes() == getattr(other.summary(), key).tobytes()
            assert same, f"the loaded model has other odds: {key}"


METHOD_CHECKS: dict[str, Callable[[Method], None]] = {
    check.__name__: check
    for check in (
        its_page_has_the_fixed_headings, its_grid_holds_settings_of_its_own, odds_are_probabilities,
        higher_scores_have_better_odds, a_file_gives_the_odds_back,
    )
}  # fmt: skip
"""Checks of every method, by name: method → None."""


def _all_odds(model: Model) -> list[Odds]:
    """The odds of new queries: without ties, and with ties if the model has those too."""
    loss = getattr(model.learner, "loss", None)
    own = loss.rank_distribution() if isinstance(loss, Loss) else None
    tied = [model.distribution(_NEW, with_ties=True)] if own is not None and own[0].has_ties else []
    return [model.distribution(_NEW), *tied]


@functools.cache
def _trained(learner: Learner) -> Model:
    """Trained with validation data, which fits the temperature."""
    return train(linear_data(20, 10), Method(short(learner, 10)), valid=linear_data(10, 8, seed=1))


_NEW = linear_data(3, 7, seed=2)
