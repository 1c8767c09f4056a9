"""Learning from explicit preferences instead of grades, or beside them."""

import numpy as np
import pytest

from podium.base.errors import IncompatibleError, PodiumWarning
from podium.data.dataset import Dataset
from podium.losses import Loss
from podium.methods import METHODS
from podium.testing import linear_data
from podium.training import train

RNG = np.random.default_rng(0)
GRADED = linear_data(20, 8, noise=0.0)
UTILITY = GRADED.features @ np.linspace(1.0, -1.0, 3)
PAIRS = np.array([(8 * q + i, 8 * q + j) for q in range(20) for i in range(8) for j in range(i)])
PAIRS = np.where((UTILITY[PAIRS[:, 0]] > UTILITY[PAIRS[:, 1]])[:, None], PAIRS, PAIRS[:, ::-1])
SOME = RNG.random(len(PAIRS)) < 0.3

ON_EDGES = [name for name in METHODS if getattr(METHODS[name].about(), "edges", None) is not None]
ON_GRADES = [name for name, cls in Loss.catalogue().items() if cls.edges is None]


def preferring(pairs, probability=None, labels=None):
    chosen = (pairs[:, 0], pairs[:, 1]) if probability is None else (pairs[:, 0], pairs[:, 1], probability)
    return Dataset.from_arrays(GRADED.features, labels, group=GRADED.sizes, preferences=chosen)


def accuracy(scores, pairs):
    return np.mean(scores[pairs[:, 0]] > scores[pairs[:, 1]])


def test_ranknet_and_hinge_are_among_those_that_learn_from_preferences():
    assert {"ranknet", "hinge", "ranking-svm", "rank-regress", "frank"} <= set(ON_EDGES)


@pytest.mark.parametrize("name", ON_EDGES)
def test_preferences_alone_teach_the_order_of_other_pairs(name):
    model = train(preferring(PAIRS[SOME]), name)
    assert accuracy(model.score(GRADED), PAIRS[~SOME]) > 0.9


@pytest.mark.parametrize("name", ON_EDGES)
def test_preferences_come_before_grades(name):
    against = train(preferring(PAIRS[:, ::-1], labels=GRADED.labels), name)
    assert accuracy(against.score(GRADED), PAIRS) < 0.1


def test_trees_learn_from_preferences_too():
    model = train(preferring(PAIRS[SOME]), "ranknet(scorer=trees(min_data_in_leaf=5),rounds=50)")
    assert accuracy(model.score(GRADED), PAIRS[~SOME]) > 0.8


def test_a_preference_of_one_half_asks_for_equal_scores():
    with pytest.warns(PodiumWarning, match="the same score"):
        model = train(preferring(PAIRS, np.full(len(PAIRS), 0.5)), "ranknet")
    np.testing.assert_allclose(model.score(GRADED), model.score(GRADED)[0], atol=1e-4)


def test_a_probability_below_one_half_turns_a_preference_around():
    turned = train(preferring(PAIRS[:, ::-1], np.full(len(PAIRS), 0.1)), "ranknet")
    assert accuracy(turned.score(GRADED), PAIRS) > 0.9


@pytest.mark.parametrize("name", ON_GRADES)
def test_a_loss_of_grades_refuses_preferences_in_words(name):
    with pytest.raises(
        IncompatibleError, match=f"{name} learns from grades, but the data has only preferences.*ranknet"
    ):
        train(preferring(PAIRS), f"recipe(loss={name},solver=adam)")


def test_batches_carry_their_preferences():
    model = train(preferring(PAIRS[SOME]), "ranknet(solver=sgd(epochs=5))")
    assert accuracy(model.score(GRADED), PAIRS[~SOME]) > 0.9
