"""Ratios of positions learned along with boosted trees: Unbiased LambdaMART, pair by pair."""

from dataclasses import replace

import numpy as np
import pytest

import podium
from podium.base.errors import IncompatibleError, ParameterError
from podium.data.dataset import Dataset
from podium.losses import LambdaRank, Loss
from podium.scorers import Trees
from podium.solvers import Boosting
from podium.solvers.position_ratios import PositionRatios
from podium.transforms import Identity
from reference.position_ratios import position_ratios

UNBIASED = "lambdarank(metric=ndcg,unbiased=true,p=2)"


def clicked(n_queries: int, seed: int = 0) -> Dataset:
    """Clicks on pages of six documents with weights and different scores before the first tree."""
    rng = np.random.default_rng(seed)
    n = 6 * n_queries
    shown = np.concatenate([rng.permutation(6) + 1 for _ in range(n_queries)])
    labels = rng.integers(0, 3, n) * (rng.random(n) < 1 / shown).astype(float)
    data = Dataset(rng.normal(size=(n, 4)).astype(np.float32), labels, np.arange(0, n + 1, 6)).with_positions(shown)
    return replace(data, query_weights=rng.integers(1, 4, n_queries) / 2).with_base_scores(0.1 * rng.normal(size=n))


def trained(data: Dataset, loss: str = UNBIASED, rounds: int = 10, **boosting: float) -> podium.Model:
    solver = Boosting(rounds=rounds, learning_rate=0.1, **boosting)
    return podium.train(data, podium.Recipe(Loss.parse(loss), Trees(num_leaves=5), solver, Identity()), seed=1)


def test_ratios_are_those_of_the_formula_at_the_scores_before_each_tree():
    data = clicked(40)
    scores = [data.base_scores, *(data.base_scores + trained(data, rounds=k).score(data) for k in range(1, 8))]
    ratios = trained(data, rounds=8).info["position_ratios"]
    plus, minus = position_ratios(data, scores, p=2.0)
    assert list(ratios["clicked"].values()) == pytest.approx(plus, rel=1e-9)
    assert list(ratios["not_clicked"].values()) == pytest.approx(minus, rel=1e-9)
    assert list(ratios["clicked"]) == list("123456")


def test_each_pair_is_divided_by_the_ratios_of_its_positions():
    """LambdaRank's forces, pair by pair: a document at the third position was clicked, those above it were not."""
    loss = LambdaRank(unbiased=True, p=0.0, metric=Loss.parse("lambdarank(metric=ndcg)").metric)
    data = Dataset(np.zeros((3, 1), np.float32), np.array([0.0, 0.0, 1.0]), np.array([0, 3])).with_positions([1, 2, 3])
    scores, ratios = np.array([2.0, 1.0, 0.0]), PositionRatios(loss, data)
    assert ratios.sweep(loss, scores, data).gradient == pytest.approx(
        replace(loss, unbiased=False)(scores, data.labels).gradient
    )
    ratios.history[-1].plus[:], ratios.history[-1].minus[:] = [1, 0.5, 0.25], [1, 0.8, 0.6]
    changes = [1 - 1 / 2, 1 / np.log2(3) - 1 / 2]
    forces = [change / (1 + np.exp(-gap)) for change, gap in zip(changes, (2.0, 1.0), strict=True)]
    first, second = forces[0] / (0.25 * 1.0), forces[1] / (0.25 * 0.8)
    assert ratios.sweep(loss, scores, data).gradient == pytest.approx([first, second, -first - second])


@pytest.mark.parametrize(
    "settings", ["distance=true", "damped=true", "normalise=true", "sigma=2", "metric=map", "by_grade=0.5"]
)
def test_before_the_first_tree_the_loss_is_that_of_lambdarank(settings):
    data, rng = clicked(20), np.random.default_rng(1)
    if settings == "metric=map":
        data = replace(data, labels=np.minimum(data.labels, 1.0))
    loss = Loss.parse(f"lambdarank({settings},unbiased=true)")
    scores = rng.normal(size=data.n_documents)
    got = PositionRatios(loss, data).sweep(loss, scores, data)
    plain = podium.losses.sweep(replace(loss, unbiased=False), scores, data)
    assert got.value == pytest.approx(plain.value)
    assert got.gradient == pytest.approx(plain.gradient)
    assert got.curvature == pytest.approx(plain.curvature)


def test_the_order_of_rows_within_queries_does_not_matter():
    data, rng = clicked(20), np.random.default_rng(2)
    data = replace(data, base_scores=None)
    order = np.concatenate([a + rng.permutation(6) for a in data.offsets[:-1]])
    moved = replace(data, features=data.features[order], labels=data.labels[order], positions=data.positions[order])
    loss, scores = Loss.parse(UNBIASED), rng.integers(0, 3, data.n_documents).astype(float)
    steps = [PositionRatios(loss, data), PositionRatios(loss, moved)]
    for _ in range(3):
        got = [
            one.sweep(loss, s, part) for one, s, part in zip(steps, (scores, scores[order]), (data, moved), strict=True)
        ]
        assert got[1].gradient == pytest.approx(got[0].gradient[order], rel=1e-12)
        for one in steps:
            one.step(np.empty(0), np.empty(0))
    assert steps[1].history[-1].plus == pytest.approx(steps[0].history[-1].plus, rel=1e-12)


def test_a_position_without_clicks_keeps_its_ratio():
    data = clicked(30)
    data = replace(data, labels=np.where(data.positions == 4, 0.0, data.labels))
    ratios = trained(data).info["position_ratios"]
    assert ratios["clicked"]["4"] == 1.0
    assert ratios["not_clicked"]["4"] != 1.0


def test_leaves_refitted_to_the_same_clicks_stay_as_they_are():
    data = replace(clicked(60), base_scores=None)
    model = trained(data)
    assert podium.refit(model, data, decay=0.0).score(data) == pytest.approx(model.score(data), abs=1e-9)


def test_a_saved_model_keeps_the_ratios(tmp_path):
    model = trained(clicked(20), rounds=3)
    model.save(tmp_path / "m.podium")
    assert podium.load(tmp_path / "m.podium").info["position_ratios"] == model.info["position_ratios"]


@pytest.mark.parametrize(
    ("data", "loss", "settings", "error", "words"),
    [
        (replace(clicked(5), positions=None), UNBIASED, {}, IncompatibleError, "the data has none.*shown_at"),
        (
            replace(clicked(5), labels=np.arange(30) % 2.0, document_weights=np.ones(30)),
            UNBIASED, {}, IncompatibleError, "takes clicks as labels and no weights",
        ),
        (clicked(5), UNBIASED, {"position_penalty": 1.0}, IncompatibleError, "Leave position_penalty out"),
        (clicked(5), "lambdarank(unbiased=true,pairs=2)", {}, ParameterError, "leave out pairs=2"),
        (clicked(5), "sum(of=[lambdarank(unbiased=true),softmax])", {}, ParameterError, "cannot be a part of a sum"),
    ],
)  # fmt: skip
def test_what_it_cannot_learn_from_is_refused_in_words(data, loss, settings, error, words):
    with pytest.raises(error, match=words):
        trained(data, loss, **settings)
