"""Several goals: the loss is the weighted sum of their losses, and weights trade one goal for another."""

from dataclasses import replace

import numpy as np
import pytest

import podium
from podium.base.errors import DataError, ParameterError, PodiumWarning
from podium.data import goals_in_order, several_goals
from podium.losses import Loss, sweep

DATA = podium.make_letor_like(60, (5, 12), n_features=6, seed=4)[0]
MARGIN = np.floor(5 * np.argsort(np.argsort(-DATA.features[:, 0])) / DATA.n_documents)
GOALS = {"relevance": DATA.labels, "margin": MARGIN}


def graded(labels):
    return replace(DATA, labels=labels)


@pytest.mark.parametrize("loss", ["lambdarank", "listnet", "regression"])
def test_the_loss_is_the_weighted_sum_of_the_losses_of_goals(loss):
    both = several_goals(DATA, GOALS, weights={"relevance": 1.0, "margin": 0.2})
    scores = np.random.default_rng(0).normal(size=DATA.n_documents)
    row = np.empty(both.n_documents, np.int64)
    for goal in range(2):
        copies = np.repeat(np.arange(both.n_queries) % 2 == goal, both.sizes)
        row[copies] = np.arange(DATA.n_documents)
    got = sweep(Loss.parse(loss), scores[row], both)
    parts = [(w, sweep(Loss.parse(loss), scores, graded(y))) for w, y in ((1.0, DATA.labels), (0.2, MARGIN))]
    assert got.value == pytest.approx(sum(w * part.value for w, part in parts))
    gradient = np.bincount(row, got.gradient)
    assert gradient == pytest.approx(sum(w * part.gradient for w, part in parts), abs=1e-12)
    assert both.labels[:3].tolist() == DATA.labels[:3].tolist()


def test_a_larger_weight_gives_more_of_its_goal():
    values = []
    for weight in (0.01, 1.0, 100.0):
        model = podium.train(several_goals(DATA, GOALS, weights={"relevance": 1.0, "margin": weight}), "listnet")
        scores = model.score(DATA)
        values.append([podium.evaluate(graded(y), scores, "ndcg@10").means()["ndcg@10"].value for y in GOALS.values()])
    relevance, margin = np.transpose(values)
    assert relevance[0] > relevance[1] > relevance[2]
    assert margin[0] < margin[1] < margin[2]


def test_a_document_without_a_label_of_a_goal_is_left_out_of_that_goal_alone():
    partly = MARGIN.copy()
    partly[0] = np.nan
    with pytest.warns(PodiumWarning, match="goal margin: 1 of"):
        both = several_goals(DATA, {"relevance": DATA.labels, "margin": partly}, weights={"relevance": 1, "margin": 1})
    assert both.n_unjudged == 1
    assert both.judged().n_documents == both.n_documents - 1


def test_rows_of_a_query_may_lie_apart():
    table = podium.Dataset.from_arrays(np.eye(3), [0, 1, 2], qid=["a", "b", "a"])
    both = several_goals(table, {"x": [0, 1, 2], "y": [3, 4, 5]}, weights={"x": 1, "y": 1})
    assert both.labels.tolist() == [0, 2, 3, 5, 1, 4]
    assert both.query_ids.tolist() == ["a/x", "a/y", "b/x", "b/y"]


@pytest.mark.parametrize(
    ("labels", "weights", "error", "words"),
    [
        (GOALS, {"relevance": 1}, ParameterError, "Name the same goals"),
        (GOALS, {"relevance": 1, "margin": 0}, ParameterError, "weight of margin must be above 0; got 0"),
        ({"x": [1, 2]}, {"x": 1}, DataError, "goal x"),
    ],
)
def test_goals_that_are_wrong_are_refused_in_words(labels, weights, error, words):
    with pytest.raises(error, match=words):
        several_goals(DATA, labels, weights=weights)


def test_goals_in_order_compare_by_the_first_then_by_the_second_then_by_the_third():
    rng = np.random.default_rng(0)
    goals = {name: rng.choice(values, 40) for name, values in (("a", [0, 0.5, 3]), ("b", [-2, 7]), ("c", [1, 2, 1e9]))}
    table = podium.Dataset.from_arrays(np.eye(40), np.zeros(40), group=[40])
    y, rows = goals_in_order(table, goals).labels, list(zip(*goals.values(), strict=True))
    for i in range(40):
        for j in range(40):
            assert (y[i] > y[j]) == (rows[i] > rows[j])
            assert y[i] - y[j] >= 0.25 or rows[i][0] <= rows[j][0]


def test_a_model_of_goals_in_order_breaks_ties_of_the_first_by_the_second():
    """Two features: the first is relevance, the second the margin; the first must win by far."""
    X = np.random.default_rng(0).integers(0, 3, (400, 2)).astype(float)
    data = podium.Dataset.from_arrays(X, X[:, 0], group=[10] * 40)
    scores = {}
    for name, labelled in (("one", data), ("both", goals_in_order(data, {"r": X[:, 0], "m": X[:, 1]}))):
        scores[name] = podium.train(labelled, "ranknet").score(data)
    weight = np.linalg.lstsq(np.column_stack([X, np.ones(400)]), scores["both"], rcond=None)[0]
    assert weight[0] > 2 * weight[1] > 0.2 * weight[0]
    alone = np.linalg.lstsq(np.column_stack([X, np.ones(400)]), scores["one"], rcond=None)[0]
    assert abs(alone[1]) < 0.05 * alone[0]


def test_a_document_without_a_label_of_a_goal_in_order_is_not_judged():
    table = podium.Dataset.from_arrays(np.eye(3), [0, 1, 2], group=[3])
    with pytest.warns(PodiumWarning, match="goal b: 1 of 3"):
        assert np.isnan(goals_in_order(table, {"a": [0, 1, 2], "b": [1, np.nan, 3]}).labels).tolist() == [
            False,
            True,
            False,
        ]


def test_one_goal_has_no_order():
    with pytest.raises(ParameterError, match="at least two are needed; got"):
        goals_in_order(DATA, {"relevance": DATA.labels})
