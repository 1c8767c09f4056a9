"""walk: a dense reference, gradients by differences, planted weights of links, and refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.relations import walked

import podium
from podium.algorithms import Walk
from podium.algorithms.walk import Walks
from podium.base.errors import DataError, IncompatibleError
from podium.data.dataset import Dataset
from podium.data.triples import Triples
from podium.graph import pagerank
from podium.losses import LambdaRank, ListNet, Loss, RankNet, Regression, sweep
from podium.model import Model


def graphs(sizes: tuple[int, ...] = (8, 1, 6), *, features: int = 2, seed: int = 0) -> Dataset:
    """Small graphs with a node without links in each, and links to itself."""
    rng = np.random.default_rng(seed)
    rows = []
    for n in sizes:
        pairs = sorted({(int(u), int(v)) for u, v in rng.integers(0, n, (3 * n, 2)) if u < n - 1})
        rows.append([[u, v, *rng.normal(size=features)] for u, v in pairs])
    n = sum(sizes)
    data = Dataset.from_arrays(np.zeros((n, 1)), rng.integers(0, 3, n), group=sizes).grouped()
    return replace(data, relations=Triples.from_rows(rows, 2 + features))


def dense_scores(data: Dataset, w: np.ndarray, restart: float) -> np.ndarray:
    """log p by a linear system for each graph."""
    assert data.relations is not None
    parts = []
    for q, n in enumerate(data.sizes.tolist()):
        Q = np.zeros((n, n))
        for u, v, *psi in data.relations.of(q):
            Q[int(u), int(v)] = np.exp(w @ psi)
        for u in range(n):
            Q[u] = Q[u] / Q[u].sum() if Q[u].any() else 1 / n
        parts.append(np.linalg.solve(np.eye(n) - (1 - restart) * Q.T, np.full(n, restart / n)))
    return np.log(np.concatenate(parts))


@pytest.mark.parametrize("restart", [0.05, 0.2, 0.9])
def test_scores_are_those_of_a_dense_system(restart: float) -> None:
    data, w = graphs(), np.array([1.3, -0.7])
    expected = dense_scores(data, w, restart)
    np.testing.assert_allclose(Walk(restart=restart).score({"weights": w}, data), expected, atol=1e-10)


@pytest.mark.parametrize("loss", [RankNet(normalise=True), ListNet(), Regression()], ids=repr)
def test_the_gradient_is_that_of_differences(loss: Loss) -> None:
    data, w, h = graphs(), np.array([0.4, -0.7]), 1e-5
    assert data.relations is not None
    walks = Walks.of(data, data.relations.values[:, 2:], 0.2)

    def value(w: np.ndarray) -> float:
        return sweep(loss, walks.scores(w)[0], data).value

    scores, pullback = walks.scores(w)
    differences = [(value(w + h * e) - value(w - h * e)) / (2 * h) for e in np.eye(2)]
    np.testing.assert_allclose(pullback(sweep(loss, scores, data).gradient), differences, atol=1e-8)


def test_weights_of_zero_are_pagerank() -> None:
    data = graphs((8,))
    assert data.relations is not None
    edges = [(int(u), int(v)) for u, v, *_ in data.relations.of(0) if u != v]
    kept = [row for row in data.relations.of(0).tolist() if row[0] != row[1]]
    plain = replace(data, relations=Triples.from_rows([kept], 4))
    expected = pagerank(edges, damping=0.8, tolerance=1e-14)
    scores = Walk(restart=0.2).score({"weights": np.zeros(2)}, plain)
    np.testing.assert_allclose(np.exp(scores), [expected[u] for u in range(8)], atol=1e-10)


def test_planted_weights_are_recovered_and_rank_other_graphs_better_than_pagerank() -> None:
    gains = []
    for seed in range(5):
        train, test, planted = walked(seed, nodes=50, graphs=(4, 1))
        model = podium.train(train, "walk(starts=1)")
        w = model.params["weights"]
        assert (np.sign(w[:3]) == np.sign(planted[:3])).all()
        assert (np.argsort(-w[:3]) == np.argsort(-planted[:3])).all()
        plain = Walk().score({"weights": np.zeros(len(w))}, test)
        accuracy = [podium.evaluate(test, s, "pair-accuracy").means()["pair-accuracy"].value for s in
                    (model.score(test), plain)]  # fmt: skip
        gains.append(accuracy[0] - accuracy[1])
    assert np.mean(gains) > 0.05


def test_a_feature_with_one_value_has_no_weight() -> None:
    data = graphs()
    assert data.relations is not None
    values = np.insert(data.relations.values, 3, 7.0, axis=1)
    more = replace(data, relations=Triples(values, data.relations.offsets))
    plain, wider = podium.train(data, "walk"), podium.train(more, "walk")
    assert wider.params["weights"][1] == 0
    np.testing.assert_allclose(wider.params["weights"][[0, 2]], plain.params["weights"], atol=1e-4)


def test_walks_pass_through_nodes_that_nobody_judged() -> None:
    train, _, planted = walked(0, nodes=50, graphs=(4, 1))
    labels = np.where(np.random.default_rng(0).random(200) < 0.6, train.labels, np.nan)
    labels[150:] = np.nan  # nothing is judged in the last graph
    w = podium.train(replace(train, labels=labels), "walk").params["weights"]
    assert (np.sign(w[:3]) == np.sign(planted[:3])).all()
    assert (np.argsort(-w) == np.argsort(-planted)).all()
    without = replace(train, labels=labels).select([0, 1, 2])
    np.testing.assert_allclose(podium.train(without, "walk").params["weights"], w, atol=0.02)


def test_a_bag_of_walks_has_a_spread() -> None:
    train, test, _ = walked(0, nodes=50, graphs=(4, 1))
    assert (podium.train(train, "bagged(of=walk,members=2)").spread(test) > 0).any()


def test_a_saved_model_scores_alike(tmp_path) -> None:
    data = graphs()
    model = podium.train(data, "walk(loss=listnet,restart=0.1,starts=1)")
    model.save(tmp_path / "m.podium")
    loaded = Model.load(tmp_path / "m.podium")
    np.testing.assert_array_equal(loaded.score(data), model.score(data))
    assert repr(loaded.learner) == "walk(loss=listnet,restart=0.1,starts=1)"


def test_what_cannot_be_walked_is_refused() -> None:
    data = graphs()
    assert data.relations is not None
    with pytest.raises(IncompatibleError, match=r"walk needs the links.*<data>\.relations"):
        podium.train(replace(data, relations=None), "walk")
    ones = data.relations.values[:, :3].copy()
    ones[:, 2] = 1
    with pytest.raises(DataError, match="each number is the same for all links"):
        podium.train(replace(data, relations=Triples(ones, data.relations.offsets)), "walk")
    with pytest.raises(IncompatibleError, match="which lambdarank does not have"):
        podium.train(data, Walk(loss=LambdaRank()))
    model = podium.train(data, "walk")
    with pytest.raises(DataError, match="links of 1 numbers, but the walk was trained with 2"):
        model.score(replace(data, relations=Triples(ones, data.relations.offsets)))
    with pytest.raises(IncompatibleError, match=r"<data>\.relations"):
        model.score(replace(data, relations=None))
