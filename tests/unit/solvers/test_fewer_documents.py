"""Epochs that see at most m documents of each query."""

import dataclasses

import numpy as np
import pytest

from podium.base.errors import IncompatibleError
from podium.data.dataset import Dataset
from podium.losses import ListNet
from podium.problem import Problem
from podium.scorers import MLP, Linear
from podium.solvers import SGD, Adam, Watch
from podium.solvers.fewer_documents import chosen
from podium.training import train

SIZES = [6, 0, 3, 9, 5]
LABELS = [0, 1, 0, 2, 0, 0, 1, 1, 1, 3, 3, 3, 3, 3, 3, 0, 0, 0, 4, 1, 1, 1, 1]


def data(sizes=SIZES, labels=LABELS):
    X = np.random.default_rng(0).standard_normal((sum(sizes), 3))
    return Dataset.from_arrays(X, labels, group=sizes)


def test_labels_above_the_least_come_first_and_one_other_stays():
    queries, seen = data(), np.zeros(len(LABELS))
    for seed in range(200):
        keep = chosen(queries, 4, np.random.default_rng(seed), None)
        seen += keep
        assert np.bincount(queries.query_index[keep], minlength=5).tolist() == [4, 0, 3, 4, 4]
        assert keep[[1, 3, 18]].all(), "the few above the least are always there"
        assert keep[9:15].sum() == 3, "of the many above the least, one less than fits"
    assert seen[[0, 2, 4, 5]] / 200 == pytest.approx(0.5, abs=0.12), "two of four others, drawn"
    assert seen[9:15] / 200 == pytest.approx(0.5, abs=0.12), "three of six"


def test_others_are_those_of_the_highest_scores():
    scores = np.arange(len(LABELS), dtype=float)
    keep = chosen(data(), 4, np.random.default_rng(0), scores)
    assert np.flatnonzero(keep[:6]).tolist() == [1, 3, 4, 5]
    assert np.flatnonzero(keep[9:18] & (data().labels[9:18] == 0)).tolist() == [8]
    assert np.flatnonzero(keep[18:]).tolist() == [0, 2, 3, 4]


def test_labels_above_the_least_fill_up_if_there_are_no_others_left():
    queries = data([5], [1, 1, 1, 1, 0])
    assert chosen(queries, 4, np.random.default_rng(0), None).sum() == 4


@pytest.mark.parametrize("scorer", [Linear(), MLP(hidden=(4,)), MLP(hidden=(4,), precision="float64")], ids=repr)
@pytest.mark.parametrize("others", ["random", "score"])
def test_an_epoch_is_that_of_the_data_with_these_documents(scorer, others):
    problem, start = Problem(ListNet(), scorer, data()), np.random.default_rng(3)
    theta, order = problem.start(start), np.arange(5)
    start.shuffle(order)
    scores = problem.scores(theta, problem.data) if others == "score" else None
    fewer = problem.data.keep_documents(chosen(problem.data, 4, start, scores))
    solver = SGD(epochs=1, batch=2)
    expected = solver._epoch(Problem(ListNet(), scorer, fewer), theta, order, solver.begin(theta), 1)[0]
    solution = SGD(epochs=1, batch=2, documents=4, others=others).solve(problem, np.random.default_rng(3), Watch())
    np.testing.assert_array_equal(solution.params["theta"], expected)


def test_documents_that_are_enough_change_nothing():
    problem = Problem(ListNet(), Linear(), data())
    thetas = [
        Adam(epochs=3, batch=2, documents=count).solve(problem, np.random.default_rng(0), Watch()).params["theta"]
        for count in (None, 9)
    ]
    assert thetas[0].tobytes() == thetas[1].tobytes()


def test_data_without_labels_or_with_topics_is_refused():
    weighted = dataclasses.replace(data(), labels=None, document_weights=np.ones(len(LABELS)))
    with pytest.raises(IncompatibleError, match=r"adam\(documents=…\) chooses documents by their labels"):
        train(weighted, "listnet(solver=adam(epochs=1,documents=4))")
