"""Batches of queries: rows with sizes, or padded; what is wrong is refused in words."""

import numpy as np
import pytest

from podium.base.errors import DataError, IncompatibleError
from podium.integrations.batch import mean_loss
from podium.losses import Loss

SCORES, LABELS = np.array([0.0, 1.0, 3.0, 2.0, 0.5, 0.1]), np.array([0.0, 0.0, 1.0, 2.0, 1.0, 0.0])
RANKNET = Loss.parse("ranknet")


def test_the_mean_over_queries_is_that_of_calls_of_the_loss():
    one, other = RANKNET(SCORES[:4], LABELS[:4]), RANKNET(SCORES[4:], LABELS[4:])
    value, gradient, _ = mean_loss(RANKNET, SCORES, LABELS, group=[4, 2])
    assert value == pytest.approx((one.value + other.value) / 2, abs=1e-15)
    assert gradient == pytest.approx(np.concatenate([one.gradient, other.gradient]) / 2, abs=1e-15)


def test_padding_changes_nothing():
    padded_scores, padded_labels = np.full((2, 5), np.nan), np.full((2, 5), -1.0)
    mask = np.array([[1, 1, 1, 1, 0], [0, 1, 0, 1, 0]], bool)
    padded_scores[mask], padded_labels[mask] = SCORES, LABELS
    value, gradient, _ = mean_loss(RANKNET, SCORES, LABELS, group=[4, 2])
    padded_value, padded_gradient, _ = mean_loss(RANKNET, padded_scores, padded_labels, mask=mask)
    assert padded_value == value
    assert (padded_gradient[mask] == gradient).all()
    assert (padded_gradient[~mask] == 0.0).all()


def test_a_row_without_documents_counts_as_a_query_of_loss_0():
    mask = np.array([[True, True], [False, False]])
    assert mean_loss(RANKNET, np.zeros((2, 2)), np.eye(2), mask=mask)[0] == pytest.approx(np.log(2) / 2)


@pytest.mark.parametrize(
    ("scores", "labels", "layout", "words"),
    [
        ([0.0, np.nan], [1, 0], {}, "score 2 of 2 is nan"),
        ([0.0, np.inf], [1, 0], {}, "score 2 of 2 is inf"),
        ([0.0, 1.0], [1, np.nan], {}, "label 2 of 2 is nan. Leave documents without a label out"),
        ([0.0, 1.0], [1], {}, r"labels have shape \(1,\), scores \(2,\)"),
        ([0.0, 1.0], [1, 0], {"group": [1]}, "the sizes of 1 queries add up to 1, but there are 2 documents"),
        ([0.0, 1.0], [1, 0], {"group": [3, -1]}, "the number of documents of each query"),
        ([0.0, 1.0], [1, 0], {"group": [0.5, 1.5]}, "whole numbers"),
        ([[0.0, 1.0]], [[1, 0]], {"mask": [True, True]}, "mask has shape"),
        ([], [], {}, "not be empty"),
    ],
)
def test_a_batch_that_is_wrong_is_refused_in_words(scores, labels, layout, words):
    with pytest.raises(DataError, match=words):
        mean_loss(RANKNET, scores, labels, **layout)


def test_sizes_are_for_rows_and_masks_for_padded_scores():
    with pytest.raises(IncompatibleError, match="Leave group out"):
        mean_loss(RANKNET, np.zeros((2, 2)), np.eye(2), group=[2, 2])
    with pytest.raises(IncompatibleError, match="State the sizes in group"):
        mean_loss(RANKNET, np.zeros(2), np.eye(2)[0], mask=[True, True])
