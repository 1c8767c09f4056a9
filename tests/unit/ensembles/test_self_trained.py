"""Self-training: unjudged queries at a weight, and the method itself without it."""

from dataclasses import replace

import numpy as np
import pytest

import podium
from podium.base.errors import DataError, IncompatibleError
from podium.ensembles.self_trained import _joined, _labelled, _without_judgments
from podium.testing import linear_data

DATA, VALID = linear_data(30, 8), linear_data(15, 8, seed=1)
FEW = DATA.select(np.arange(4))
HIDDEN = replace(DATA, labels=np.where(DATA.query_index < 4, DATA.labels, np.nan))


@pytest.mark.parametrize("of", ["ranknet", "lambdamart(rounds=5,min_data_in_leaf=2)", "lambdarank(epochs=2)"])
def test_a_weight_of_zero_is_the_method_itself(of):
    plain, trained = podium.train(FEW, of, seed=3), podium.train(HIDDEN, f"self-trained(of={of},weight=0)", seed=3)
    assert trained.score(VALID).tobytes() == plain.score(VALID).tobytes()
    assert trained.learner == plain.learner


def test_the_second_fit_learns_from_both_ends_of_the_first():
    first = podium.train(FEW, "ranknet")
    pool = DATA.select(np.arange(4, 30))
    labels = np.full(pool.n_documents, np.nan)
    scores = first.score(pool).reshape(26, 8)
    for q, order in enumerate(np.argsort(-scores, axis=1)):
        labels[8 * q + order[:2]], labels[8 * q + order[-2:]] = 1, 0
    expected = _joined(FEW, replace(pool, labels=labels).judged(), 0.5)
    assert expected.sizes.tolist() == [8] * 4 + [4] * 26
    model = podium.train(HIDDEN, "self-trained(of=ranknet,weight=0.5,ends=0.25)")
    assert model.score(VALID).tobytes() == podium.train(expected, "ranknet").score(VALID).tobytes()
    assert model.info["unjudged_queries"] == 26
    assert "self_trained" in model.info


def test_the_weight_is_chosen_on_validation_data():
    model = podium.train(HIDDEN, "self-trained(of=ranknet(penalty=0.1))", valid=VALID)
    assert [trial["weight"] for trial in model.info["trials"]] == [0.0, 0.1, 0.3]


def test_short_queries_have_at_least_one_of_each_end():
    pool = replace(DATA.select([0]), labels=np.full(8, np.nan))
    for ends, count in ((0.01, 1), (0.2, 2), (0.5, 4)):
        labelled = _labelled(pool, np.arange(8.0), ends)
        assert labelled.labels.tolist() == [0.0] * count + [1.0] * count
    assert _without_judgments(HIDDEN).n_queries == 26


def test_queries_judged_in_part_are_not_labelled():
    labels = HIDDEN.labels.copy()
    labels[:3] = np.nan
    model = podium.train(replace(HIDDEN, labels=labels), "self-trained(of=ranknet)")
    assert model.info["unjudged_queries"] == 26


def test_what_cannot_be_weighted_is_refused():
    with pytest.raises(IncompatibleError, match="self-trained weights queries, and prank"):
        podium.train(HIDDEN, "self-trained(of=prank)")
    with pytest.raises(IncompatibleError, match="give the method itself"):
        podium.train(HIDDEN, "bagged(of=self-trained,members=2)")
    with pytest.raises(DataError):
        podium.train(replace(DATA, labels=np.full(DATA.n_documents, np.nan)), "self-trained")
