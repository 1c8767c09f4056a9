"""What every method promises: scores of any data, or words; models that files hold; the same bits from one seed."""

import functools

import numpy as np
import pytest

from podium.data.dataset import Dataset
from podium.errors import PodiumError
from podium.methods import METHODS
from podium.metrics import Metric
from podium.model import Model
from podium.training import fit, train
from reference.learning import linear_data
from reference.variants import short

NDCG = Metric.parse("ndcg@10")
DATA = linear_data(30, 20, n_features=4)
ALL = pytest.mark.parametrize("name", METHODS)
LEARNING = pytest.mark.parametrize("name", [name for name in METHODS if name != "random"])


def quick(name):
    """The method's learner with few iterations; correctness of what they reach is the solvers' contract."""
    return short(METHODS[name].learner, 20)


@functools.cache
def trained(name):
    return fit(quick(name), DATA, metric=NDCG)


def mean_ndcg(model, data):
    return np.nanmean(NDCG(model.score(data), data.labels, data.offsets))


@LEARNING
def test_it_ranks_better_than_chance(name):
    chance = np.mean([mean_ndcg(train(DATA, "random", seed=seed), DATA) for seed in range(20)])
    assert mean_ndcg(trained(name), DATA) > chance + 0.1


@ALL
def test_scores_are_one_finite_number_per_document(name):
    scores = trained(name).score(DATA)
    assert scores.shape == (DATA.n_documents,)
    assert scores.dtype == np.float64
    assert np.isfinite(scores).all()
    assert len(np.unique(scores)) > 1


@ALL
def test_a_file_gives_the_scores_back_bit_for_bit(name, tmp_path):
    model = trained(name)
    model.save(tmp_path / "a.podium")
    loaded = Model.load(tmp_path / "a.podium")
    assert loaded.score(DATA).tobytes() == model.score(DATA).tobytes()
    assert loaded.learner == model.learner
    assert loaded.info == model.info
    loaded.save(tmp_path / "b.podium")
    assert (tmp_path / "a.podium").read_bytes() == (tmp_path / "b.podium").read_bytes()


@ALL
def test_the_same_training_gives_the_same_file_on_any_number_of_threads(name, tmp_path, monkeypatch):
    data = linear_data(100, 90, n_features=4)  # several blocks of rows and of queries
    for threads in ("1", "2"):
        monkeypatch.setenv("PODIUM_THREADS", threads)
        fit(short(METHODS[name].learner, 4), data, metric=NDCG, seed=3).save(tmp_path / threads)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


@LEARNING
def test_the_order_of_queries_and_documents_does_not_matter(name):
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.permutation(np.arange(a, a + 20)) for a in 20 * rng.permutation(30)])
    shuffled = Dataset.from_arrays(DATA.features[rows], DATA.labels[rows], qid=DATA.query_index[rows])
    model = fit(quick(name), shuffled, metric=NDCG)
    by_chance = fit(quick(name), DATA, metric=NDCG, seed=1).score(DATA)
    if np.array_equal(by_chance, trained(name).score(DATA)):
        np.testing.assert_allclose(model.score(DATA), trained(name).score(DATA), rtol=1e-3, atol=1e-3)
    else:  # visits queries in random order, so that another order is another draw
        assert mean_ndcg(model, DATA) == pytest.approx(mean_ndcg(trained(name), DATA), abs=0.05)


@LEARNING
def test_scores_of_a_query_do_not_depend_on_other_queries(name):
    one = DATA.select([7])
    np.testing.assert_allclose(trained(name).score(one), trained(name).score(DATA)[140:160], rtol=1e-9, atol=1e-12)


@ALL
def test_another_number_of_features_is_refused_in_words(name):
    with pytest.raises(PodiumError, match="3 features, but the model was trained with 4"):
        trained(name).score(linear_data(n_features=3))


def one_document_per_query():
    return linear_data(40, 1, n_features=4)


def labels_all_equal():
    return Dataset.from_arrays(DATA.features, np.ones(DATA.n_documents), group=DATA.sizes)


def one_query_of_3000_documents():
    return linear_data(1, 3000, n_features=4)


def features_all_constant():
    return Dataset.from_arrays(np.ones((60, 4)), np.tile([0, 1, 2], 20), group=[30, 30])


def features_missing():
    X = DATA.features.copy()
    X[::7, 1] = np.nan
    X[:, 3] = np.nan
    return Dataset.from_arrays(X, DATA.labels, group=DATA.sizes)


def features_infinite():
    X = DATA.features.copy()
    X[5, 2] = np.inf
    return Dataset.from_arrays(X, DATA.labels, group=DATA.sizes)


def one_document():
    return linear_data(1, 1, n_features=4)


def labels_with_fractions():
    return Dataset.from_arrays(DATA.features, DATA.labels + 0.25, group=DATA.sizes)


def empty_queries():
    return Dataset.from_arrays(DATA.features, DATA.labels, group=[0, *DATA.sizes, 0])


@ALL
@pytest.mark.parametrize(
    "make",
    [
        one_document_per_query,
        labels_all_equal,
        one_query_of_3000_documents,
        features_all_constant,
        features_missing,
        features_infinite,
        one_document,
        labels_with_fractions,
        empty_queries,
    ],
)
def test_unusual_data_gives_finite_scores_or_words(name, make):
    data, words = make(), None
    try:
        model = fit(short(METHODS[name].learner, 3), data, metric=NDCG)
        scores = model.score(data)
    except PodiumError as refused:
        words = str(refused)
    if words is not None:
        assert len(words) > 20
        assert make not in (one_query_of_3000_documents, labels_with_fractions, empty_queries)
        return
    assert np.isfinite(scores).all()
    numbers = [array for array in model.params.values() if array.dtype.kind == "f"]
    assert all(np.isfinite(array).all() for array in numbers)


@LEARNING
def test_an_empty_dataset_is_refused_in_words(name):
    with pytest.raises(PodiumError, match="no document to learn from"):
        train(Dataset.from_arrays(np.empty((0, 4)), []), METHODS[name])
