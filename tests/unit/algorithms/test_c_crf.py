"""c-crf: the likelihood against quadrature and a dense brute force, its gradient, predictions and refusals."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import dblquad

import podium
from podium.algorithms import CCRF
from podium.algorithms.c_crf import Field
from podium.base.errors import IncompatibleError
from podium.data.dataset import Dataset
from podium.data.triples import Triples
from podium.model import Model
from podium.transforms import Identity

RELATIONS = ("similarity", "link")


def linked(sizes: list[int], *, seed: int = 0, features: int = 3) -> Dataset:
    rng = np.random.default_rng(seed)
    n, rows = sum(sizes), []
    for size in sizes:
        pairs = [(i, j) for i, j in itertools.permutations(range(size), 2) if rng.random() < 0.3]
        rows.append([[i, j, float(rng.uniform(0.2, 2))] for i, j in pairs])
    X, y = rng.standard_normal((n, features)), rng.integers(0, 3, n)
    y[:2] = 0, 1
    return replace(Dataset.from_arrays(X, y, group=sizes).grouped(), relations=Triples.from_rows(rows))


def links(data: Dataset, q: int) -> np.ndarray:
    assert data.relations is not None
    R = np.zeros((int(data.sizes[q]), int(data.sizes[q])))
    for i, j, value in data.relations.of(q):
        R[int(i), int(j)] = value
    return R


def exponent(y, X, R, weights, relation) -> float:
    """The exponent of P(y|x), as printed: double sums."""
    alpha, beta = weights[:-1], weights[-1]
    total = -sum(alpha[k] * sum((y[i] - X[i, k]) ** 2 for i in range(len(y))) for k in range(len(alpha)))
    for i, j in itertools.permutations(range(len(y)), 2):
        if relation == "similarity" and i < j:
            total -= beta * max(R[i, j], R[j, i]) * (y[i] - y[j]) ** 2
        elif relation == "link":
            total += beta * R[i, j] * (y[i] - y[j])
    return total


def brute_force(y, X, R, weights, relation) -> tuple[float, np.ndarray, np.ndarray]:
    """log P(y|x), mean and covariance, with the matrices of one query."""
    n, alpha, beta = len(y), weights[:-1], weights[-1]
    S = np.maximum(R, R.T)
    A = alpha.sum() * np.eye(n) + (beta * (np.diag(S.sum(axis=1)) - S) if relation == "similarity" else 0)
    pull = X @ alpha + (0.5 * beta * (R.sum(axis=1) - R.sum(axis=0)) if relation == "link" else 0)
    mean = np.linalg.solve(A, pull)
    log_p = -(y - mean) @ A @ (y - mean) + 0.5 * np.linalg.slogdet(A)[1] - 0.5 * n * math.log(math.pi)
    return log_p, mean, 0.5 * np.linalg.inv(A)


def likelihood(data: Dataset, relation: str) -> Field:
    return CCRF(relation=relation, transform=Identity())._field(data, from_file=True)


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_likelihood_is_that_of_dense_matrices(relation: str) -> None:
    data, weights = linked([5, 1, 7, 4]), np.array([0.3, 1.2, 0.5, 0.7])
    assert data.labels is not None
    parts = [slice(a, b) for a, b in itertools.pairwise(data.offsets)]
    X = data.features.astype(np.float64)
    total = sum(
        brute_force(data.labels[part], X[part], links(data, q), weights, relation)[0] for q, part in enumerate(parts)
    )
    value, _ = likelihood(data, relation)(np.log(weights))
    assert -value * data.n_documents == pytest.approx(total, abs=1e-10)


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_density_is_normalised_as_quadrature_says(relation: str) -> None:
    data, weights = linked([2], seed=3), np.array([0.3, 1.2, 0.5, 0.7])
    data = replace(data, relations=Triples.from_rows([[[0, 1, 0.8]]]))
    assert data.labels is not None
    X, y, R = data.features.astype(np.float64), data.labels, links(data, 0)
    log_z = math.log(
        dblquad(
            lambda b, a: math.exp(exponent([a, b], X, R, weights, relation)), -7, 7, -7, 7, epsabs=1e-13, epsrel=1e-12
        )[0]
    )
    value, _ = likelihood(data, relation)(np.log(weights))
    assert -2 * value == pytest.approx(exponent(y, X, R, weights, relation) - log_z, abs=1e-9)


@pytest.mark.parametrize("relation", RELATIONS)
def test_the_gradient_is_that_of_differences(relation: str) -> None:
    data = replace(linked([5, 1, 7, 4]), query_weights=np.array([1.0, 2.0, 0.5, 3.0]))
    field, logs, h = likelihood(data, relation), np.array([-0.5, 0.3, -1.0, 0.2]), 1e-5
    differences = [(field(logs + h * e)[0] - field(logs - h * e)[0]) / (2 * h) for e in np.eye(4)]
    np.testing.assert_allclose(field(logs)[1], differences, atol=1e-9)


@pytest.mark.parametrize("relation", RELATIONS)
def test_scores_are_the_mean_and_spread_is_of_the_covariance(relation: str) -> None:
    data = linked([6, 1, 9, 5])
    model = podium.train(data, f"c-crf(relation={relation},transform=identity)")
    weights = np.append(model.params["alpha"], model.params["beta"])
    scores, spread = model.score(data), model.spread(data)
    assert data.labels is not None
    for q, (a, b) in enumerate(itertools.pairwise(data.offsets)):
        X, y = data.features[a:b].astype(np.float64), data.labels[a:b]
        _, mean, covariance = brute_force(y, X, links(data, q), weights, relation)
        np.testing.assert_allclose(scores[a:b], mean, atol=1e-9)
        np.testing.assert_allclose(spread[a:b], np.sqrt(np.diag(covariance)), atol=1e-9)


def test_long_queries_are_solved_by_a_sparse_factor_to_the_same_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    data = linked([40, 30])
    model = podium.train(data, "c-crf")
    expected = model.score(data)
    monkeypatch.setattr("podium.algorithms.c_crf._DENSE", 10)
    np.testing.assert_allclose(model.score(data), expected, rtol=1e-10)


def draw(relation: str, seed: int) -> tuple[Dataset, np.ndarray]:
    """Grades drawn from the field itself, with weights (1, 0.5, 2)."""
    rng, data = np.random.default_rng(seed), linked([12] * 60, seed=seed, features=2)
    weights, X, y = np.array([1.0, 0.5, 2.0]), data.features.astype(np.float64), np.empty(data.n_documents)
    for q, (a, b) in enumerate(itertools.pairwise(data.offsets)):
        _, mean, covariance = brute_force(np.zeros(b - a), X[a:b], links(data, q), weights, relation)
        y[a:b] = rng.multivariate_normal(mean, covariance)
    return replace(data, labels=y), weights


@pytest.mark.parametrize("relation", RELATIONS)
def test_planted_weights_are_recovered(relation: str) -> None:
    data, weights = draw(relation, 0)
    model = podium.train(data, f"c-crf(relation={relation},transform=identity)")
    np.testing.assert_allclose(np.append(model.params["alpha"], model.params["beta"]), weights, rtol=0.25)


def test_a_saved_model_scores_alike_and_says_which_file_it_needs(tmp_path) -> None:
    data = linked([6, 8])
    model = podium.train(data, "c-crf")
    model.save(tmp_path / "m.podium")
    loaded = Model.load(tmp_path / "m.podium")
    np.testing.assert_array_equal(loaded.score(data), model.score(data))
    with pytest.raises(IncompatibleError, match=r"c-crf needs the links.*<data>\.relations"):
        loaded.score(replace(data, relations=None))


def test_links_cannot_be_made_up() -> None:
    data = replace(linked([6, 8]), relations=None)
    assert np.isfinite(podium.train(data, "c-crf").score(data)).all()  # nearest documents are similar
    with pytest.raises(IncompatibleError, match=r"relation=link\) needs the links"):
        podium.train(data, "c-crf(relation=link)")
