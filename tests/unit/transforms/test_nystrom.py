import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import rbf_kernel

from podium.data.dataset import Dataset
from podium.metrics import Metric
from podium.training import train
from podium.transforms import Identity, Nystrom, ZScore

RNG = np.random.default_rng(0)
DATA = Dataset.from_arrays(RNG.standard_normal((60, 3)), RNG.integers(0, 3, 60), group=[20, 40])


def inner(transform, data=DATA):
    made = transform.features(transform.fit(data), data).astype(np.float64)
    return made @ made.T


def test_every_document_a_landmark_is_the_exact_kernel():
    X = ZScore().features(ZScore().fit(DATA), DATA)
    np.testing.assert_allclose(inner(Nystrom(components=None)), rbf_kernel(X, gamma=1 / 3), atol=1e-5)
    np.testing.assert_allclose(inner(Nystrom(components=99, gamma=0.7)), rbf_kernel(X, gamma=0.7 / 3), atol=1e-5)


def test_features_are_those_of_scikit_learn_from_the_same_landmarks():
    transform = Nystrom(of=Identity(), components=12, gamma=0.4)
    state = transform.fit(DATA)
    theirs = Nystroem(gamma=0.4 / 3, n_components=12, random_state=0).fit(state["landmarks"]).transform(DATA.features)
    ours = transform.features(state, DATA)
    np.testing.assert_allclose(ours @ ours.T, theirs @ theirs.T, atol=1e-4)
    assert len({row.tobytes() for row in state["landmarks"]}) == 12


def test_documents_that_repeat_are_no_trouble():
    twice = Dataset.from_arrays(np.vstack([DATA.features] * 2), group=[120])
    np.testing.assert_allclose(
        inner(Nystrom(components=None), twice)[:60, :60], inner(Nystrom(components=None)), atol=1e-5
    )


def test_landmarks_are_distinct_where_most_documents_are_not():
    mostly = Dataset.from_arrays(np.vstack([np.zeros((500, 3)), DATA.features]), group=[560])
    landmarks = Nystrom(of=Identity(), components=61).fit(mostly)["landmarks"]
    assert len(np.unique(landmarks, axis=0)) == 61
    assert len(np.unique(Nystrom(components=20).fit(mostly)["landmarks"], axis=0)) == 20


def test_another_seed_draws_other_landmarks_and_the_order_of_rows_none():
    def landmarks(seed, data=DATA):
        return {row.tobytes() for row in Nystrom(of=Identity(), components=10, seed=seed).fit(data)["landmarks"]}

    turned = Dataset.from_arrays(DATA.features[::-1], group=[60])
    assert landmarks(0) == landmarks(0, turned)
    assert len(landmarks(0) & landmarks(1)) < 7


def test_a_linear_svm_on_them_learns_a_circle():
    X = np.random.default_rng(1).uniform(-1, 1, (600, 2))
    data = Dataset.from_arrays(X, (np.hypot(*X.T) < 0.6).astype(int), group=np.full(30, 20))
    accuracy = Metric.parse("pair-accuracy")

    def pairs_right(name):
        return np.nanmean(accuracy(train(data, name).score(data), data.labels, data.offsets))

    assert pairs_right("ranking-svm") < 0.7
    assert pairs_right("ranking-svm-kernel") > 0.95


def test_names_of_features_do_not_pass_to_components():
    named = Dataset.from_arrays(DATA.features, group=[60], feature_names=["a", "b", "c"])
    transform = Nystrom(components=3)
    assert transform.apply(transform.fit(named), named).feature_names is None


@pytest.mark.parametrize("text", ["nystrom", "nystrom(components=none,gamma=0.5)", "nystrom(of=minmax,seed=3)"])
def test_its_text_gives_it_back(text):
    assert repr(Nystrom.parse(text)) == text
