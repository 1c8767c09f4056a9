"""IR SVM's weights of pairs and queries, and subset regression's weights of places."""

import itertools

import numpy as np
import pytest

from podium.base.errors import IncompatibleError, ParameterError
from podium.data.dataset import Dataset
from podium.losses import IRSVM, Hinge, Regression, SubsetRegression, sweep
from podium.metrics import Metric
from podium.problem import Problem
from podium.scorers import Linear
from podium.testing import linear_data
from podium.training import train


def swapped(labels, better, worse):
    """The mean drop of NDCG@1 over all swaps of a document of one grade with one of another in a perfect ranking."""
    ranked, ndcg = np.sort(labels)[::-1], Metric.parse("ndcg@1")
    drops = []
    for i, j in itertools.product(np.flatnonzero(ranked == better), np.flatnonzero(ranked == worse)):
        after = ranked.copy()
        after[[i, j]] = ranked[[j, i]]
        drops.append(1 - ndcg(-np.arange(len(ranked)), after, [0, len(ranked)])[0])
    return np.mean(drops)


def test_a_pair_of_grades_weighs_the_mean_drop_of_ndcg_at_1_over_queries():
    queries = [np.array([2, 1, 0, 0]), np.array([1, 1, 0]), np.array([2, 2, 1])]
    data = Dataset.from_arrays(np.zeros((10, 1)), np.concatenate(queries), group=[4, 3, 3])
    means = {}
    for better, worse in ((1, 0), (2, 0), (2, 1)):
        both = [q for q in queries if better in q and worse in q]
        means[better, worse] = np.mean([swapped(q, better, worse) for q in both])
    largest = max(means.values())
    tau = [x for (better, worse), mean in means.items() for x in (better, worse, mean / largest)]
    assert IRSVM().fitted_to(data).tau == pytest.approx(tau)
    got = sweep(IRSVM(normalise=False), np.zeros(10), data)  # where every pair falls short by 1
    assert got.per_query == pytest.approx([tau[8] + 2 * tau[5] + 2 * tau[2], 2 * tau[2], 2 * tau[8]])


def test_training_takes_the_weights_of_the_whole_training_data():
    data = linear_data(6, 5)
    expected = IRSVM().fitted_to(data)
    assert Problem(IRSVM(), Linear(), data).loss == expected
    assert train(data, "ir-svm(solver=adam(epochs=2))").learner.loss == expected
    given = IRSVM(tau=(1.0, 0.0, 0.5))
    assert given.fitted_to(data) == given


def test_weights_that_are_no_triples_are_refused():
    for tau in ((3.0, 2.0), (1.0, 0.0, -1.0)):
        with pytest.raises(ParameterError, match="tau holds triples"):
            IRSVM(tau=tau)


def test_too_many_grades_are_refused():
    with pytest.raises(IncompatibleError, match="the data has 60 grades"):
        IRSVM()(np.zeros(60), np.arange(60) / 60)


def test_binary_grades_make_it_the_mean_hinge():
    scores, labels = np.array([0.2, -0.4, 0.9, 0.1]), [1, 0, 0, 1]
    assert IRSVM()(scores, labels).value == pytest.approx(Hinge(normalise=True)(scores, labels).value)
    assert IRSVM()(scores, labels).gradient == pytest.approx(Hinge(normalise=True)(scores, labels).gradient)


def test_places_beyond_the_top_weigh_less():
    loss, labels = SubsetRegression(top=2, rest=0.25), [3, 2, 1, 0]
    assert loss(np.array(labels) + 1.0, labels).curvature.tolist() == [2.0, 2.0, 0.5, 0.5]


def test_equal_grades_share_the_weights_of_their_places():
    loss = SubsetRegression(top=2, rest=0.25)
    assert loss(np.zeros(4), [3, 1, 1, 1]).curvature == pytest.approx([2.0, *[2 * (1 + 0.25 + 0.25) / 3] * 3])


@pytest.mark.parametrize("target", ["label", "gain"])
def test_a_top_that_holds_all_is_plain_regression(target):
    scores, labels = np.array([0.2, -0.4, 0.9]), [2, 0, 1]
    whole = SubsetRegression(target=target, top=3)(scores, labels)
    assert whole.value == pytest.approx(Regression(target=target)(scores, labels).value)
    assert whole.gradient == pytest.approx(Regression(target=target)(scores, labels).gradient)


def test_a_ceiling_leaves_documents_below_the_top_alone():
    loss, labels = SubsetRegression(top=2, rest=0.5, others="ceiling"), [3, 2, 1, 0]
    assert loss([3.0, 2.0, -7.0, 1.9], labels).value == 0.0
    got = loss([3.0, 2.0, 2.4, 5.0], labels)  # 2 is the least target of the top
    assert got.value == pytest.approx(0.5 * (0.4**2 + 3.0**2))
    assert got.gradient == pytest.approx([0.0, 0.0, 0.4, 3.0])
