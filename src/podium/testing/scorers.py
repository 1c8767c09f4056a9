"""Contract suite of scorers: adjoint derivatives, queries scored alone, equal bits on any number of threads."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from podium.base.arrays import Array
from podium.data.dataset import Dataset
from podium.losses import Regression
from podium.problem import Problem
from podium.scorers import Params, Scorer, SmoothScorer
from podium.solvers import Solver, Watch
from podium.testing.examples import linear_data, short, size, threads
from podium.testing.names import text_gives_it_back
from podium.testing.numbers import near
from podium.testing.refusals import refused


def check_scorer(scorer: Scorer) -> None:
    """Run every check of scorers."""
    for check in SCORER_CHECKS.values():
        check(scorer)


def scores_are_one_number_per_document(scorer: Scorer) -> None:
    """A finite float64 for each document, not all the same; none for no documents."""
    scores = scorer.score(_fitted(scorer), _queries(_features(20)))
    assert scores.shape == (20,), f"20 documents have scores of shape {scores.shape}"
    assert scores.dtype == np.float64, f"scores are {scores.dtype}"
    assert np.isfinite(scores).all(), f"scores are {scores}"
    assert len(np.unique(scores)) > 1, f"all scores are {scores[0]}"
    none = scorer.score(_fitted(scorer), _queries(np.empty((0, _D))))
    assert none.shape == (0,), f"no documents have scores of shape {none.shape}"


def pullback_is_the_adjoint_of_the_derivative(scorer: Scorer) -> None:
    """⟨Jv, g⟩ = ⟨v, Jᵀg⟩ for directions v of parameters and g of scores; Jv by finite differences."""
    if not isinstance(scorer, SmoothScorer):
        return
    rng, data, params, eps = np.random.default_rng(2), _queries(_features(30)), _fitted(scorer), 1e-6
    for _ in range(3):
        v, g = rng.standard_normal(scorer.n_params(_D)), rng.standard_normal(30)
        above, below = (scorer.score({**params, "theta": params["theta"] + step * v}, data) for step in (eps, -eps))
        along, back = float((above - below) @ g) / (2 * eps), float(v @ scorer.pullback(params, data, g))
        assert abs(along - back) <= 1e-5 * max(abs(along), 1e-3), f"⟨Jv, g⟩ = {along}, but ⟨v, Jᵀg⟩ = {back}"


def queries_are_scored_alone(scorer: Scorer) -> None:
    """Other queries do not matter; rows in another order give their scores in that order, unless it sees the order."""
    X, params = _features(40), _fitted(scorer)
    together = scorer.score(params, _queries(X))
    alone = np.concatenate([scorer.score(params, _queries(X[a : a + 10])) for a in range(0, 40, 10)])
    near(together, alone, 1e-12, "scores of all queries against those of each alone")
    if scorer.sees_order:
        return
    turned = np.concatenate([np.arange(a, a + 10)[::-1] for a in range(0, 40, 10)])
    near(scorer.score(params, _queries(X[turned])), together[turned], 1e-12, "scores of rows in another order")


def sparse_features_are_scored_like_dense_ones(scorer: Scorer) -> None:
    """The scores, and the pullback, of the same numbers stored sparsely."""
    X, params, g = _features(50).clip(min=0), _fitted(scorer), np.cos(np.arange(50.0))
    dense, sparse = _queries(X), _queries(sp.csr_array(X))
    near(scorer.score(params, sparse), scorer.score(params, dense), 1e-6, "scores of sparse features")
    if isinstance(scorer, SmoothScorer):
        near(scorer.pullback(params, sparse, g), scorer.pullback(params, dense, g), 1e-6, "pullback of sparse features")


def threads_do_not_change_a_bit(scorer: Scorer) -> None:
    """One thread and two give the same bytes, of more documents than a block holds."""
    n, results = size(20_000, 50), []
    data, params, g = _queries(_features(n)), _fitted(scorer), np.cos(np.arange(float(n)))
    for number in (1, 2):
        with threads(number):
            down = scorer.pullback(params, data, g) if isinstance(scorer, SmoothScorer) else np.zeros(1)
            results.append((scorer.score(params, data).tobytes(), down.tobytes()))
    assert results[0] == results[1], "threads change scores or the pullback"


def a_prepared_scorer_gives_the_same_bits(scorer: Scorer) -> None:
    """Whether it is prepared or not, and the second time as the first."""
    data, params = _queries(_features(40)), _fitted(scorer)
    prepared, expected = scorer.prepare(params, _D), scorer.score(params, data).tobytes()
    assert [prepared(data).tobytes() for _ in range(2)] == [expected] * 2, "a prepared scorer gives other scores"


def one_seed_starts_from_one_place(scorer: Scorer) -> None:
    """`init` and `penalised` have `n_params` numbers; a penalty counts 0 or 1."""
    if not isinstance(scorer, SmoothScorer):
        return
    first, second = (scorer.init(_D, np.random.default_rng(5)) for _ in range(2))
    assert first.tobytes() == second.tobytes(), "the same seed gives other parameters"
    shapes = {first.shape, scorer.penalised(_D).shape, (scorer.n_params(_D),)}
    assert len(shapes) == 1, f"init, penalised and n_params have shapes {shapes}"
    assert set(scorer.penalised(_D)) <= {0.0, 1.0}, f"penalised is {scorer.penalised(_D)}"


def other_features_are_refused(scorer: Scorer) -> None:
    """Parameters for another number of features than the data has are refused, with both numbers."""
    for d in (_D - 1, _D + 1):
        data = _queries(np.zeros((2, d)))
        says = rf"\b{d} features|features.*\b{d}\b"
        refused(lambda data=data: scorer.score(_fitted(scorer), data), says=says, when=f"{d} features")  # type: ignore[misc]


def its_own_solver_takes_it(scorer: Scorer) -> None:
    """The solver that it names for recipes without one accepts it."""
    Solver.parse(scorer.solver).check(Regression(), scorer)


SCORER_CHECKS: dict[str, Callable[[Scorer], None]] = {
    check.__name__: check
    for check in (
        text_gives_it_back, scores_are_one_number_per_document, pullback_is_the_adjoint_of_the_derivative,
        queries_are_scored_alone, sparse_features_are_scored_like_dense_ones, threads_do_not_change_a_bit,
        a_prepared_scorer_gives_the_same_bits, one_seed_starts_from_one_place, other_features_are_refused,
        its_own_solver_takes_it,
    )
}  # fmt: skip
"""Checks of every scorer, by name: scorer → None."""

_D = 4


def _features(n: int) -> Array:
    return np.random.default_rng(0).standard_normal((n, _D))


def _queries(X: Any) -> Dataset:
    """Dataset of the rows as queries of ten documents."""
    return Dataset.from_arrays(X, qid=np.arange(X.shape[0]) // 10).grouped()


@functools.cache
def _fitted(scorer: Scorer) -> Params:
    """Parameters in general position."""
    rng, data = np.random.default_rng(1), linear_data(40, 10, n_features=_D)
    if isinstance(scorer, SmoothScorer):
        theta = scorer.init(_D, rng) + 0.3 * rng.standard_normal(scorer.n_params(_D))
        return {"theta": theta, **scorer.reference(data)}
    return short(Solver.parse(scorer.solver), 5).solve(Problem(Regression(), scorer, data), rng, Watch()).params
