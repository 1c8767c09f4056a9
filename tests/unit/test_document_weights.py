"""Document weights: what they mean, who takes them, and who says that it does not."""

import dataclasses

import numpy as np
import pytest

from podium.base.errors import DataError, IncompatibleError, PodiumError
from podium.data.dataset import Dataset
from podium.learner import Learner
from podium.losses import RankNet, sweep
from podium.methods import METHODS
from podium.metrics import Metric
from podium.testing import linear_data
from podium.training import train

GRADED = linear_data(30, 8)
BINARY = dataclasses.replace(GRADED, labels=(GRADED.labels > 0).astype(np.float64))
WEIGHTS = np.random.default_rng(0).uniform(0.5, 3.0, GRADED.n_documents)


def weighted(data=BINARY, weights=WEIGHTS, **changes):
    return dataclasses.replace(data, document_weights=weights, **changes)


def test_ranknet_with_weights_is_the_weighted_sum_over_relevant_documents():
    data, scores = weighted(), np.random.default_rng(1).normal(size=GRADED.n_documents)
    expected = 0.0
    for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        for d in range(a, b):
            others = [j for j in range(a, b) if j != d]
            expected += WEIGHTS[d] * data.labels[d] * np.logaddexp(0, scores[others] - scores[d]).sum()
    assert sweep(RankNet(), scores, data).value == pytest.approx(expected)


def test_labels_may_be_absent():
    relevance = weighted().relevance()
    bare = weighted(labels=None, weights=relevance)
    np.testing.assert_array_equal(train(bare, "ranknet").params["theta"], train(weighted(), "ranknet").params["theta"])


def test_a_weight_of_two_is_a_document_counted_twice():
    """In data without labels, two queries that each name one relevant document are one query that names both."""
    both = weighted(labels=None, weights=np.where(np.arange(240) % 8 < 2, 2.0, 0.0))
    parts = []
    for at in (0, 1):
        parts.append(weighted(labels=None, weights=np.where(np.arange(240) % 8 == at, 1.0, 0.0)))
    scores = np.random.default_rng(2).normal(size=240)
    one = sweep(RankNet(), scores, both)
    two = [sweep(RankNet(), scores, part) for part in parts]
    assert one.value == pytest.approx(2 * (two[0].value + two[1].value))
    np.testing.assert_allclose(one.gradient, 2 * (two[0].gradient + two[1].gradient), atol=1e-12)


def test_selected_queries_keep_their_weights_and_the_digest_sees_them():
    data = weighted()
    np.testing.assert_array_equal(data.select([2, 0]).document_weights, np.r_[WEIGHTS[16:24], WEIGHTS[:8]])
    assert data.digest() != BINARY.digest()


def test_weights_follow_rows_in_any_order():
    shuffle = np.random.default_rng(3).permutation(240)
    qid = np.repeat(np.arange(30), 8)
    data = Dataset.from_arrays(
        BINARY.features[shuffle], BINARY.labels[shuffle], qid=qid[shuffle], document_weights=WEIGHTS[shuffle]
    )
    np.testing.assert_array_equal(data.document_weights, WEIGHTS[shuffle])
    np.testing.assert_array_equal(data.from_grouped(data.grouped().document_weights), WEIGHTS[shuffle])


@pytest.mark.parametrize("name", METHODS)
def test_every_method_takes_document_weights_or_says_that_it_does_not(name):
    learner = METHODS[name].learner
    assert isinstance(learner, Learner)
    if learner.takes_document_weights:
        learner.check(weighted())
        return
    with pytest.raises(IncompatibleError, match="has no document weights"):
        train(weighted(), name)


def test_a_learner_without_weights_says_so_where_labels_are_absent():
    with pytest.raises(IncompatibleError, match="adarank has no document weights"):
        train(weighted(labels=None), "adarank-map")


def test_grades_with_document_weights_are_refused_with_what_to_do():
    with pytest.raises(DataError, match=r"labels 0 and 1.*query_weights"):
        weighted(GRADED)


def test_preferences_with_document_weights_are_refused():
    with pytest.raises(DataError, match="cannot be combined"):
        weighted().with_preferences([0], [1])


def test_negative_weights_need_a_solver_that_does_not_rely_on_convexity():
    data = weighted(weights=np.where(np.arange(240) % 8 == 0, -0.1, WEIGHTS))
    with pytest.raises(IncompatibleError, match=r"negative document weights undo.*lbfgs"):
        train(data, "ranking-svm")
    assert np.isfinite(train(data, "ranknet").score(GRADED)).all()


def test_weights_that_are_no_numbers_are_refused():
    with pytest.raises(DataError, match="weight nan is not a finite number"):
        weighted(weights=np.full(240, np.nan))


def test_data_whose_weights_say_nothing_is_refused():
    with pytest.raises(PodiumError, match="none has one beside other documents"):
        train(weighted(weights=np.zeros(240)), "ranknet")


def test_validation_data_without_grades_is_measured_by_weighted_dcg():
    part = [BINARY.select(range(a, a + 10)) for a in (0, 10, 20)]
    clicked = [
        dataclasses.replace(data, labels=None, document_weights=data.labels * 2.5) for data in part
    ]  # what clicks over propensities would say
    model = train(clicked[0], "softmax", valid=clicked[1], metric="weighted-dcg@5")
    metric = Metric.parse("weighted-dcg@5")
    values = metric(model.score(part[1]), 2.5 * part[1].labels, part[1].offsets)
    assert model.info["valid"] == pytest.approx(np.nanmean(values))
    assert len(model.info["trials"]) == len(METHODS["softmax"].grid["penalty"])
    assert metric(model.score(part[2]), part[2].labels, part[2].offsets).mean() > 0.4


def test_weights_multiply_the_labels_of_validation_data():
    data = weighted()
    again = weighted(labels=None, weights=data.relevance())
    one, other = (train(BINARY, "softmax", valid=held, metric="weighted-dcg@5") for held in (data, again))
    assert one.info["valid"] == other.info["valid"]


def test_validation_by_another_metric_says_what_to_do():
    with pytest.raises(DataError, match=r"needs labels.*weighted-dcg@10"):
        train(BINARY, "softmax", valid=weighted(labels=None), metric="ndcg@10")


def test_weights_below_zero_are_measured():
    metric = Metric.parse("weighted-dcg")
    assert metric([3.0, 2.0], [-1.0, 3.0], [0, 2])[0] == pytest.approx(-1 + 3 / np.log2(3))
    assert metric([3.0, 2.0], [-1.0, 1.0], [0, 2])[0] == pytest.approx(-1 + 1 / np.log2(3))
    assert np.isnan(metric([3.0, 2.0], [0.0, 0.0], [0, 2])[0])
