import numpy as np
import pytest

from podium.algorithms import AdaRank
from podium.base.errors import DataError, IncompatibleError
from podium.data.dataset import Dataset
from podium.metrics import Metric
from podium.solvers import Watch
from podium.testing import linear_data
from reference.algorithms import adarank

DATA = linear_data(20, 8, n_features=5)


def learned(data=DATA, **settings):
    learner, watch = AdaRank(**settings), Watch()
    return learner.learn(data, np.random.default_rng(0), watch), watch


@pytest.mark.parametrize("bound", ["exponential", "logistic"])
@pytest.mark.parametrize("name", ["map", "ndcg@5", "kendall"])
def test_rounds_are_those_of_the_printed_algorithm(name, bound):
    metric = Metric.parse(name)
    counted = ~np.isnan(metric(np.zeros(DATA.n_documents), DATA.labels, DATA.offsets))
    measure = lambda scores: metric(scores, DATA.labels, DATA.offsets)[counted]  # noqa: E731
    for rounds in (1, 2, 5):
        found, _ = learned(metric=metric, rounds=rounds, bound=bound)
        expected = adarank(DATA.features.astype(float), measure, rounds, bound)
        np.testing.assert_allclose(found.params["weights"], expected, rtol=1e-9)


def test_the_loss_falls_every_round_until_no_feature_helps():
    found, watch = learned(rounds=1000)
    values = [step.value for step in watch.history]
    assert (np.diff(values) < 0).all()
    assert found.record["stopped"] == "no feature lowers the loss further"


def test_a_feature_that_ranks_downwards_gets_a_negative_weight():
    data = Dataset.from_arrays([[3.0], [2.0], [1.0], [9.0], [0.0]], [0, 0, 1, 0, 1], group=[3, 2])
    assert learned(data)[0].params["weights"][0] < 0


def test_queries_in_which_the_measure_finds_nothing_are_left_out():
    empty = linear_data(3, 8, n_features=5, seed=9)
    both = Dataset.from_arrays(
        np.vstack([DATA.features, empty.features]),
        np.append(DATA.labels, np.zeros(24)),
        group=[*DATA.sizes, *empty.sizes],
    )
    np.testing.assert_allclose(learned(both)[0].params["weights"], learned()[0].params["weights"], rtol=1e-9)


def test_measures_beyond_one_and_data_with_nothing_to_find_are_refused():
    with pytest.raises(IncompatibleError, match="measure between −1 and 1"):
        AdaRank(metric=Metric.parse("dcg@10")).check(DATA)
    with pytest.raises(DataError, match="has nothing to find"):
        AdaRank().check(Dataset.from_arrays(DATA.features, DATA.labels / 10, group=DATA.sizes))
