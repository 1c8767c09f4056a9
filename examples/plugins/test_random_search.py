from dataclasses import replace

import numpy as np
import pytest
from random_search import RandomSearch

from podium.methods import METHODS, method
from podium.testing import linear_data
from podium.testing.names import text_gives_it_back
from podium.training import train
from podium.tuning import space

DATA, VALID = linear_data(20, 8), linear_data(10, 8, seed=1)


def test_its_text_gives_it_back():
    text_gives_it_back(RandomSearch(trials=3))


def searched(name: str, value_of, *, trials: int):
    """Its choice for a method if the value on validation data is a function of the learner."""
    model, learners = train(DATA, "regression", valid=VALID), []

    def fit(learner):
        learners.append(learner)
        return replace(model, learner=learner, info={"valid": value_of(learner)}), np.array([value_of(learner)])

    return RandomSearch(trials=trials).run(method(name), fit, seed=0), learners


def test_the_best_trial_is_chosen_and_ties_go_to_the_first():
    best, learners = searched("listnet", lambda learner: -abs(np.log(learner.solver.penalty)), trials=20)
    values = [trial["valid"] for trial in best.info["trials"]]
    assert best.info["chosen"] == int(np.argmax(values)) > 0
    assert best.learner == learners[best.info["chosen"]]
    same, learners = searched("listnet", lambda learner: 0.5, trials=20)
    assert same.info["chosen"] == 0
    assert same.learner == learners[0] == METHODS["listnet"].learner


@pytest.mark.parametrize("name", METHODS)
def test_draws_are_values_that_the_method_takes(name):
    if space(method(name)):
        _, learners = searched(name, lambda learner: 0.5, trials=30)
        for one in space(method(name)).values():
            assert all(one.holds(one.get(learner)) for learner in learners[1:])
            assert len({one.get(learner) for learner in learners}) > 1


def test_draws_on_a_logarithmic_scale_are_even_there():
    _, learners = searched("listnet", lambda learner: 0.5, trials=400)
    low, high, _ = space(method("listnet"))["penalty"].where
    places = [np.log(learner.solver.penalty / low) / np.log(high / low) for learner in learners[1:]]
    assert np.mean(places) == pytest.approx(0.5, abs=4 / np.sqrt(12 * 399))


def test_training_takes_it_by_name_and_the_seed_decides():
    models = [train(DATA, "listnet", valid=VALID, search="random(trials=4)", seed=seed) for seed in (0, 0, 1)]
    first, again, other = ([trial["penalty"] for trial in model.info["trials"]] for model in models)
    assert first == again != other
    assert len(first) == 4
