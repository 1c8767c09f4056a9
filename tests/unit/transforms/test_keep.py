"""Feature selection as a transform: orders by their definitions, and a model of kept features."""

import itertools

import numpy as np
import pytest

from podium.base.errors import IncompatibleError, ParameterError, PodiumError
from podium.data.dataset import Dataset
from podium.data.synthetic import make_letor_like, useless_features
from podium.explanation.explain import explain_rows
from podium.explanation.importance import importance
from podium.metrics import Metric
from podium.model import Model
from podium.training import train
from podium.transforms import Keep, SecondOrder, ZScore
from podium.transforms.feature_orders import (
    feature_order,
    gas_order,
    lasso_order,
    moments_within_queries,
    rfe_order,
    similarities,
    single_feature_values,
)  # fmt: skip


def make(seed=0, n=60):
    """Two useful features, a copy of the first, a constant and noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5))
    X[:, 2] = X[:, 0] + 0.01 * X[:, 2]
    X[:, 3] = 4.0
    labels = np.digitize(X[:, 0] - 0.7 * X[:, 1] + 0.2 * rng.standard_normal(n), [-0.5, 0.5])
    return Dataset.from_arrays(X, labels, group=[n // 3, 1, n - n // 3 - 1]).grouped()


def test_similarity_is_the_share_of_pairs_ordered_alike_with_ties_as_half():
    data = make()
    X = np.round(np.asarray(data.features, np.float64))
    expected = np.zeros((5, 5))
    queries = [q for q in range(data.n_queries) if data.sizes[q] > 1]
    for q, i, j in itertools.product(queries, range(5), range(5)):
        rows = range(data.offsets[q], data.offsets[q + 1])
        shares = []
        for a, b in itertools.combinations(rows, 2):
            same = (X[a, i] - X[b, i]) * (X[a, j] - X[b, j])
            shares.append(0.5 if same == 0 else float(same > 0))
        expected[i, j] += np.mean(shares) / len(queries)
    assert similarities(X, data.offsets) == pytest.approx(expected, abs=1e-12)
    assert similarities(X, data.offsets)[3] == pytest.approx([0.5] * 5)  # the constant one


def test_the_worth_of_a_feature_is_its_metric_in_the_better_direction():
    data = make()
    X = np.asarray(data.features, np.float64)
    worth, signs = single_feature_values(X, data)
    assert signs[1] == -1
    metric = Metric.parse("ndcg@10")
    assert worth[1] == pytest.approx(metric.average(metric(-X[:, 1], data.labels, data.offsets)).value)
    assert worth[3] == pytest.approx(metric.average(metric(np.zeros(len(X)), data.labels, data.offsets)).value)


def test_gas_is_greedy_and_lowers_the_others_by_twice_c_times_similarity():
    weights = np.array([0.9, 0.8, 0.7])
    alike = np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.1], [0.1, 0.1, 1.0]])
    assert gas_order(weights, alike, 0.0).tolist() == [0, 1, 2]
    assert gas_order(weights, alike, 0.1).tolist() == [0, 2, 1]  # .8 − .2·.9 = .62 < .7 − .2·.1 = .68
    assert gas_order(weights, alike, 0.06).tolist() == [0, 1, 2]  # .8 − .12·.9 = .692 > .7 − .12·.1 = .688


def test_the_first_of_the_lasso_is_the_most_correlated_feature_and_its_copy_comes_late():
    data = make(n=300)
    gram, products = moments_within_queries(np.asarray(data.features, np.float64), data)
    order = lasso_order(gram, products)
    assert order[0] == np.argmax(np.abs(products))
    assert order[1] == 1
    assert order[-1] == 3
    assert sorted(rfe_order(gram, products)[-2:]) == [3, 4]


@pytest.mark.parametrize("by", ["gas", "rfe", "lasso"])
def test_order_of_rows_and_units_of_features_do_not_matter(by):
    data = make(1, n=90)
    scaled = Dataset.from_arrays(np.asarray(data.features) * [1, 1e3, 1e-3, 1, 8], data.labels, group=data.sizes)
    assert feature_order(by, scaled.grouped(), c=0.01).tolist() == feature_order(by, data, c=0.01).tolist()


@pytest.mark.parametrize("by", ["rfe", "lasso"])
@pytest.mark.parametrize("seed", range(5))
def test_the_kept_half_has_few_useless_features(by, seed):
    data, _ = make_letor_like(150, seed=seed)
    useless = useless_features(150, seed=seed)
    assert len(useless) == 6
    kept = Keep(by=by, count=12).fit(data)["kept"]
    assert np.isin(kept, useless).mean() <= 0.1


def test_pure_noise_is_kept_at_chance_level():
    shares = []
    for seed in range(10):
        data, _ = make_letor_like(20, seed=seed)
        noise = np.random.default_rng(seed).permutation(data.labels)
        blind = Dataset.from_arrays(data.features, noise, group=data.sizes).grouped()
        shares.append(np.isin(Keep(count=12).fit(blind)["kept"], useless_features(20, seed=seed)).mean())
    assert np.mean(shares) == pytest.approx(0.25, abs=0.12)


@pytest.mark.parametrize("method", ["listnet", "lambdamart", "listnet(scorer=mlp)", "rankboost"])
def test_a_model_of_kept_features_ignores_the_others(method, tmp_path):
    data = make(n=120)
    inside = "" if "(" not in method else method[method.index("(") + 1 : -1] + ","
    model = train(data, f"{method.split('(')[0]}({inside}transform=keep(only=[1,2]))")
    model.save(tmp_path / "m.podium")
    loaded = Model.load(tmp_path / "m.podium")
    changed = np.array(data.features)
    changed[:, 2:] = 7.0
    other = Dataset.from_arrays(changed, group=data.sizes).grouped()
    assert loaded.score(other).tobytes() == model.score(data).tobytes()
    shares = importance(model, data)
    if shares is not None:
        assert shares[0][2:].tolist() == [0, 0, 0]
    explanation = explain_rows(model, data, 0, (0, 1))
    assert explanation is not None


def test_weights_of_features_that_are_not_kept_are_zero():
    data = make(n=120)
    model = train(data, "ranknet(transform=keep(only=[5,2]))")
    weights = model.coefficients()
    assert (weights != 0).tolist() == [False, True, False, False, True]
    differences = np.asarray(data.features, np.float64) @ weights - model.score(data)
    assert np.ptp(differences) < 1e-4 * np.ptp(model.score(data))


def test_equal_to_a_model_of_those_columns_alone():
    data = make(n=120)
    few = Dataset.from_arrays(np.asarray(data.features)[:, [0, 1]], data.labels, group=data.sizes).grouped()
    kept = train(data, "ranknet(transform=keep(only=[1,2]))")
    assert kept.score(data) == pytest.approx(train(few, "ranknet").score(few), abs=1e-6)


def test_more_features_than_there_are_keep_all():
    data = make()
    assert Keep(count=99).fit(data)["kept"].tolist() == [0, 1, 2, 3, 4]


def test_it_stands_below_and_above_other_transforms():
    data = make(n=120)
    above = Keep(of=SecondOrder(of=ZScore(), correlation=0.0), count=3)
    assert above.mixes
    assert above.apply(above.fit(data), data).n_features == 3
    below = SecondOrder(of=Keep(count=2), correlation=0.0)
    assert below.apply(below.fit(data), data).n_features <= 5


@pytest.mark.parametrize("only", ["0", "1,1", "9"])
def test_features_that_do_not_exist_are_refused(only):
    with pytest.raises(PodiumError, match="keep: "):
        train(make(), f"ranknet(transform=keep(only=[{only}]))")


def test_without_labels_nothing_can_be_chosen():
    data = Dataset.from_arrays(np.zeros((4, 2)), group=[4], preferences=([0, 2], [1, 3]))
    with pytest.raises(IncompatibleError, match="keep chooses features by labels"):
        train(data, "ranknet(transform=keep)")
    with pytest.raises(ParameterError):
        Keep(count=0)
