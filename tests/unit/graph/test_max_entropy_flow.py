"""max_entropy_flow: the worked numbers, the primal problem solved by another method, PageRank, planted attraction."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.relations import attracted, pair_accuracy
from scipy.optimize import minimize

from podium.base.errors import DataError, ParameterError
from podium.base.threads import one_blas_thread
from podium.graph import make_links, max_entropy_flow, pagerank
from podium.graph.max_entropy_flow import flow_of

EDGES = [(0, 1), (0, 2), (1, 2), (2, 0), (3, 2), (3, 0)]
LINKS = make_links(EDGES, range(4))


@pytest.mark.parametrize(
    ("cost", "expected"),
    [(10, [0.301961, 0.301961, 0.359007, 0.037070]), (0.1, [0.374103, 0.206611, 0.381747, 0.037539])],
)
def test_the_worked_example(cost: float, expected: list[float]) -> None:
    assert flow_of(LINKS, [(1, 0)], cost=cost, damping=0.85).scores == pytest.approx(expected, abs=6e-7)


def test_divergence_and_multiplier_of_the_worked_example() -> None:
    flow = flow_of(LINKS, [(1, 0)], cost=10, damping=0.85)
    assert flow.divergence == pytest.approx(0.120577, abs=5e-7)
    assert flow.multipliers == pytest.approx([1.320921], abs=5e-7)


def pagerank_flow(edges, n: int, damping: float) -> np.ndarray:
    """q, all n² of it, from the eigenvector of the walk."""
    W = np.zeros((n, n))
    for u, v in edges:
        W[u, v] = 1
    out = W.sum(axis=1, keepdims=True)
    P = np.where(out > 0, damping * W / np.maximum(out, 1) + (1 - damping) / n, 1 / n)
    values, vectors = np.linalg.eig(P.T)
    p = np.real(vectors[:, np.argmax(np.real(values))])
    return (p / p.sum())[:, None] * P


@pytest.mark.parametrize(("cost", "margin"), [(10, 0.0), (0.1, 0.0), (1.0, 0.05)])
def test_the_primal_problem_has_the_same_solution(cost: float, margin: float) -> None:
    n, preferences, edges = 4, [(1, 0), (3, 2)], EDGES
    q = pagerank_flow(edges, n, 0.85).ravel()

    def inflow(x):
        return x[: n * n].reshape(n, n).sum(axis=0)

    with one_blas_thread():
        result = minimize(
            lambda x: float(np.sum(x[: n * n] * np.log(x[: n * n] / q)) + cost * x[n * n :].sum()),
            np.append(q, np.ones(2)),
            jac=lambda x: np.append(np.log(x[: n * n] / q) + 1, np.full(2, cost)),
            method="SLSQP",
            bounds=[(1e-12, 1)] * (n * n) + [(0, None)] * 2,
            constraints=[
                {"type": "eq", "fun": lambda x: x[: n * n].sum() - 1},
                {"type": "eq", "fun": lambda x: (inflow(x) - x[: n * n].reshape(n, n).sum(axis=1))[1:]},
                {
                    "type": "ineq",
                    "fun": lambda x: (
                        np.array([inflow(x)[w] - inflow(x)[l] for w, l in preferences]) + x[n * n :] - margin
                    ),
                },
            ],
            options={"ftol": 1e-14, "maxiter": 1000},
        )
    flow = flow_of(make_links(edges, range(n)), preferences, cost=cost, margin=margin, damping=0.85)
    assert flow.scores == pytest.approx(inflow(result.x), abs=2e-6)
    assert flow.divergence + cost * result.x[n * n :].sum() == pytest.approx(result.fun, abs=1e-6)


def test_without_preferences_it_is_pagerank() -> None:
    for seed in range(3):
        edges = attracted(seed, nodes=40)[0]
        expected = pagerank(edges, tolerance=1e-15, rounds=1000)
        assert max_entropy_flow(edges, []) == pytest.approx(expected, abs=1e-14)
        assert max_entropy_flow(edges, [(0, 1)], cost=0) == pytest.approx(expected, abs=1e-14)


def test_it_follows_preferences_to_other_pairs_of_the_graph() -> None:
    gains = []
    for seed in range(5):
        edges, known, other = attracted(seed, nodes=60)
        gains.append(pair_accuracy(max_entropy_flow(edges, known), other) - pair_accuracy(pagerank(edges), other))
    assert np.mean(gains) > 0.02


def test_names_are_any_and_odd_inputs_are_refused() -> None:
    scores = max_entropy_flow([("a", "b"), ("b", "c b"), ("c b", "a"), ("a", "c b")], [("b", "c b")], cost=100)
    assert scores["b"] == pytest.approx(scores["c b"], abs=1e-6)
    assert sum(scores.values()) == pytest.approx(1)
    assert max_entropy_flow([], []) == {}
    with pytest.raises(DataError, match="names 7, which is no node"):
        max_entropy_flow(EDGES, [(0, 7)])
    with pytest.raises(DataError, match="between a node and itself"):
        max_entropy_flow(EDGES, [(0, 0)])
    with pytest.raises(DataError, match="must be"):
        max_entropy_flow(EDGES, ["01"])
    with pytest.raises(ParameterError, match="cost and margin"):
        max_entropy_flow(EDGES, [(0, 1)], cost=-1)
