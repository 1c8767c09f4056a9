"""What every scorer promises: adjoint derivatives, rows that do not see each other, the same bits on any threads."""

import numpy as np
import pytest
import scipy.sparse as sp

from podium.data.dataset import Dataset
from podium.errors import PodiumError
from podium.losses import Regression
from podium.problem import Problem
from podium.scorers import Scorer, SmoothScorer
from podium.solvers import Solver, Watch
from reference.learning import linear_data
from reference.variants import installed, short, variants

SCORERS = [scorer for cls in Scorer.catalogue().values() if installed(cls) for scorer in variants(cls)]
SMOOTH = [scorer for scorer in SCORERS if isinstance(scorer, SmoothScorer)]
D = 4


def features(n, seed=0):
    return np.random.default_rng(seed).standard_normal((n, D)).astype(np.float32)


def queries(X):
    """The rows as queries of ten documents."""
    return Dataset.from_arrays(X, qid=np.arange(X.shape[0]) // 10)


def fitted(scorer):
    """Parameters in general position."""
    rng, data = np.random.default_rng(1), linear_data(40, 10, n_features=D)
    if isinstance(scorer, SmoothScorer):
        theta = scorer.init(D, rng) + 0.3 * rng.standard_normal(scorer.n_params(D))
        return {"theta": theta, **scorer.reference(data)}
    return short(Solver.parse(scorer.solver), 5).solve(Problem(Regression(), scorer, data), rng, Watch()).params


@pytest.mark.parametrize("scorer", SMOOTH, ids=repr)
def test_pullback_is_the_adjoint_of_the_derivative(scorer):
    rng, data, params = np.random.default_rng(2), queries(features(30)), fitted(scorer)
    v, g, eps = rng.standard_normal(scorer.n_params(D)), rng.standard_normal(30), 1e-6
    above, below = (scorer.score({**params, "theta": params["theta"] + step * v}, data) for step in (eps, -eps))
    assert (above - below) / (2 * eps) @ g == pytest.approx(v @ scorer.pullback(params, data, g), rel=1e-5)


@pytest.mark.parametrize("scorer", SCORERS, ids=repr)
def test_the_score_of_a_document_does_not_depend_on_others(scorer):
    X, params = features(20), fitted(scorer)
    together = scorer.score(params, queries(X))
    alone = [scorer.score(params, queries(X[i : i + 1]))[0] for i in range(len(X))]
    assert together.dtype == np.float64
    np.testing.assert_allclose(together, alone, rtol=1e-12, atol=1e-14)
    assert len(np.unique(together)) > 1


@pytest.mark.parametrize("scorer", SCORERS, ids=repr)
def test_sparse_features_give_the_scores_of_dense_ones(scorer):
    X, params = features(50), fitted(scorer)
    X[X < 0] = 0.0
    sparse, full = scorer.score(params, queries(sp.csr_array(X))), scorer.score(params, queries(X))
    np.testing.assert_allclose(sparse, full, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("scorer", SMOOTH, ids=repr)
def test_sparse_features_give_the_pullback_of_dense_ones(scorer):
    X, params, g = features(50), fitted(scorer), np.random.default_rng(3).standard_normal(50)
    X[X < 0] = 0.0
    np.testing.assert_allclose(
        scorer.pullback(params, queries(sp.csr_array(X)), g),
        scorer.pullback(params, queries(X), g),
        rtol=1e-6,
        atol=1e-12,
    )


@pytest.mark.parametrize("scorer", SCORERS, ids=repr)
def test_the_size_of_blocks_does_not_matter(scorer, monkeypatch):
    X, params, g = queries(features(300)), fitted(scorer), np.random.default_rng(3).standard_normal(300)
    score = scorer.score(params, X)
    down = scorer.pullback(params, X, g) if isinstance(scorer, SmoothScorer) else np.zeros(1)
    monkeypatch.setattr("podium.threads.BLOCK", 7)
    np.testing.assert_allclose(scorer.score(params, X), score, rtol=1e-12, atol=1e-13)
    again = scorer.pullback(params, X, g) if isinstance(scorer, SmoothScorer) else np.zeros(1)
    np.testing.assert_allclose(again, down, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("scorer", SCORERS, ids=repr)
def test_threads_do_not_change_a_bit(scorer, monkeypatch):
    n = 20_000  # more than two blocks
    X, params, g = queries(features(n)), fitted(scorer), np.random.default_rng(3).standard_normal(n)
    found = []
    for threads in ("1", "2"):
        monkeypatch.setenv("PODIUM_THREADS", threads)
        down = scorer.pullback(params, X, g) if isinstance(scorer, SmoothScorer) else np.zeros(1)
        found.append((scorer.score(params, X).tobytes(), down.tobytes()))
    assert found[0] == found[1]


@pytest.mark.parametrize("scorer", SMOOTH, ids=repr)
def test_the_same_seed_starts_from_the_same_parameters(scorer):
    first, second = (scorer.init(D, np.random.default_rng(5)) for _ in range(2))
    assert first.tobytes() == second.tobytes()
    assert first.shape == (scorer.n_params(D),) == scorer.penalised(D).shape
    assert set(scorer.penalised(D)) <= {0.0, 1.0}


@pytest.mark.parametrize("scorer", SCORERS, ids=repr)
def test_parameters_for_other_features_are_refused_in_words(scorer):
    with pytest.raises(PodiumError, match="features"):
        scorer.score(fitted(scorer), queries(np.zeros((2, D - 1))))
    with pytest.raises(PodiumError, match="features"):
        scorer.score(fitted(scorer), queries(np.zeros((2, D + 1))))


@pytest.mark.parametrize("scorer", SCORERS, ids=repr)
def test_no_documents_have_no_scores(scorer):
    assert scorer.score(fitted(scorer), queries(np.empty((0, D)))).shape == (0,)


@pytest.mark.parametrize("scorer", SCORERS, ids=repr)
def test_the_named_solver_accepts_the_scorer(scorer):
    Solver.parse(scorer.solver).check(Regression(), scorer)


@pytest.mark.parametrize("scorer", SCORERS, ids=repr)
def test_a_prepared_scorer_gives_the_same_bits(scorer):
    data, params = queries(features(40)), fitted(scorer)
    prepared = scorer.prepare(params, D)
    for _ in range(2):
        assert prepared(data).tobytes() == scorer.score(params, data).tobytes()
