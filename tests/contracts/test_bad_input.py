"""What every method does with data that it was not made for: it refuses in one line before work starts, or it works."""

import dataclasses
import re

import numpy as np
import pytest
import scipy.sparse as sp

from podium.data.dataset import Dataset
from podium.data.preferences import from_labels
from podium.errors import PodiumError
from podium.methods import METHODS, method
from podium.metrics import Metric
from podium.training import fit, train
from reference.learning import linear_data
from reference.variants import short

NDCG = Metric.parse("ndcg@10[floor=0]")
DATA = linear_data(6, 8, n_features=4)
ALL = pytest.mark.parametrize("name", METHODS)
NEEDS_NO_ANSWERS = {"random"}


def with_labels(labels):
    return dataclasses.replace(DATA, labels=np.asarray(labels, np.float64))


def preferences_only():
    return dataclasses.replace(DATA, labels=None, preferences=from_labels(DATA.labels, DATA.offsets))


def no_preference_in_the_list():
    none = from_labels(np.zeros(DATA.n_documents), DATA.offsets)
    return dataclasses.replace(DATA, labels=None, preferences=none)


def neither_grades_nor_preferences():
    return dataclasses.replace(DATA, labels=None)


def one_grade():
    return with_labels(np.ones(DATA.n_documents))


def one_grade_per_query():
    return with_labels(DATA.query_index % 3)


def binary_labels():
    return with_labels(DATA.labels >= 2)


def nothing_relevant():
    return with_labels(DATA.labels / 100)


def everything_relevant():
    return with_labels(DATA.labels + 1)


def labels_to_thirty():
    return with_labels(np.minimum(10 * DATA.labels, 30))


def labels_of_any_number():
    return with_labels(DATA.labels + np.random.default_rng(0).uniform(0, 0.5, DATA.n_documents))


def labels_below_zero():
    return with_labels(DATA.labels - 2)


def sparse_features():
    return dataclasses.replace(DATA, features=sp.csr_array(np.where(DATA.features > 0, DATA.features, 0)))


def copies_of_documents():
    return dataclasses.replace(DATA, features=np.repeat(DATA.features[::2], 2, axis=0))


def features_of_all_scales():
    return dataclasses.replace(DATA, features=DATA.features * np.float32([1e-6, 1.0, 1e3, 1e9]))


USUAL = [binary_labels, labels_to_thirty, copies_of_documents, features_of_all_scales]
UNUSUAL = [
    preferences_only,
    nothing_relevant,
    everything_relevant,
    one_grade_per_query,
    labels_of_any_number,
    labels_below_zero,
    sparse_features,
]
HOPELESS = [no_preference_in_the_list, neither_grades_nor_preferences, one_grade]


@ALL
@pytest.mark.parametrize("make", USUAL)
def test_what_other_benchmarks_look_like_is_learned_from(name, make):
    data = make()
    assert np.isfinite(fit(short(METHODS[name].learner, 2), data, metric=NDCG).score(data)).all()


@ALL
@pytest.mark.parametrize("make", UNUSUAL)
def test_what_is_not_refused_before_work_starts_is_learned_from(name, make):
    data, learner = make(), short(METHODS[name].learner, 2)
    try:
        learner.check(data)
    except PodiumError as refused:
        assert_one_clear_line(refused)
    else:
        assert np.isfinite(fit(learner, data, metric=NDCG).score(data)).all()


@pytest.mark.parametrize("name", [name for name in METHODS if name not in NEEDS_NO_ANSWERS])
@pytest.mark.parametrize("make", HOPELESS)
def test_data_without_an_answer_is_refused_before_work_starts(name, make):
    with pytest.raises(PodiumError) as refused:
        METHODS[name].learner.check(make())
    assert_one_clear_line(refused.value)


@ALL
def test_a_million_documents_are_refused_with_the_memory_they_need_or_accepted(name):
    try:
        METHODS[name].learner.check(million())
    except PodiumError as refused:
        assert_one_clear_line(refused, says=r"\d GB")


@pytest.mark.parametrize(
    "text", ["ranking-svm-kernel(components=none)", "structrank", "ranknet(scorer=nadaraya-watson)"]
)
def test_a_kernel_on_a_million_documents_is_refused_with_the_memory_it_needs_and_what_to_use(text):
    with pytest.raises(PodiumError, match=r"\d GB.* Use ") as refused:
        train(million(), method(text))
    assert_one_clear_line(refused.value)


def million():
    n = 1_000_000
    features = np.broadcast_to(np.float32(0), (n, 46))  # takes no memory
    return Dataset(features, np.arange(n) % 3.0, np.arange(0, n + 1, 100))


def assert_one_clear_line(refused, says=""):
    words = str(refused)
    assert re.search(says, words)
    assert 30 < len(words) < 400
    assert "\n" not in words
    assert words.endswith(".")
