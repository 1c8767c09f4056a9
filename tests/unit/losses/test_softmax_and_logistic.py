"""Softmax cross entropy, which is linear in its labels, and logistic regression on soft labels."""

import dataclasses

import numpy as np
import pytest
from scipy.special import expit, log_softmax

from podium.base.errors import DataError, IncompatibleError
from podium.data.dataset import Dataset
from podium.losses import ListNet, Logistic, Softmax, product, sweep
from podium.testing import linear_data
from podium.training import train

SCORES = np.array([0.3, -1.2, 2.0, 0.5])


def one_query(labels=None, weights=None):
    n = len(SCORES)
    return Dataset(np.zeros((n, 0), np.float32), labels, np.array([0, n]), document_weights=weights)


def test_softmax_is_the_negative_log_likelihood_of_the_relevant_document():
    assert Softmax()(SCORES, [0, 0, 0, 1]).value == pytest.approx(-log_softmax(SCORES)[3])


def test_softmax_and_listnet_agree_where_the_labels_are_a_softmax():
    labels = np.array([1.0, 0.0, 2.0, 0.0])
    share = np.exp(labels) / np.exp(labels).sum()
    assert Softmax()(SCORES, share).value == pytest.approx(ListNet()(SCORES, labels).value)


def test_softmax_is_linear_in_its_labels():
    one, two = np.array([1.0, 0.0, 2.0, 0.5]), np.array([0.0, 3.0, 0.0, 1.0])
    both, parts = Softmax()(SCORES, 2 * one + two), [Softmax()(SCORES, y) for y in (one, two)]
    for field in ("value", "gradient", "curvature"):
        expected = 2 * getattr(parts[0], field) + getattr(parts[1], field)
        np.testing.assert_allclose(getattr(both, field), expected, atol=1e-12)


def test_weights_in_one_call_are_the_sum_over_documents_also_where_some_are_negative():
    class Looped(Softmax):
        linear_in_labels = False

    data, v = one_query(weights=np.array([2.0, -0.5, 0.0, 1.5])), np.array([1.0, 2.0, -1.0, 0.5])
    at_once, looped = sweep(Softmax(), SCORES, data), sweep(Looped(), SCORES, data)
    for field in ("value", "gradient", "curvature"):
        np.testing.assert_allclose(getattr(at_once, field), getattr(looped, field), atol=1e-12)
    expected = product(Looped(), SCORES, data, direction=v)
    np.testing.assert_allclose(product(Softmax(), SCORES, data, direction=v), expected, atol=1e-12)


def test_clicks_over_propensities_train_softmax():
    data = linear_data(30, 8)
    clicked = dataclasses.replace(data, labels=None, document_weights=(data.labels > 0) * 2.0)
    assert train(clicked, "softmax").score(data).shape == (240,)


def test_softmax_refuses_negative_labels():
    with pytest.raises(DataError, match="at least 0; got -1"):
        Softmax()(SCORES, [0, -1, 1, 0])


def test_logistic_takes_soft_labels():
    labels = np.array([0.2, 0.0, 1.0, 0.5])
    got = Logistic()(SCORES, labels)
    assert got.value == pytest.approx(-(labels * np.log(expit(SCORES)) + (1 - labels) * np.log(expit(-SCORES))).sum())
    np.testing.assert_allclose(got.gradient, expit(SCORES) - labels)


def test_logistic_divides_grades_by_the_largest_of_the_training_data():
    data = one_query(np.array([0.0, 1.0, 4.0, 2.0]))
    assert Logistic().fitted_to(data) == Logistic(highest=4.0)
    assert Logistic().fitted_to(one_query(np.array([0.0, 0.5, 0.1, 0.0]))) == Logistic(highest=1.0)
    batch = [0.0, 1.0, 2.0, 0.0]  # without the highest grade
    got = Logistic().fitted_to(data)(SCORES, batch).gradient
    np.testing.assert_allclose(got, expit(SCORES) - np.array(batch) / 4)


@pytest.mark.parametrize("labels", [[0, -0.5, 1, 0], [0, 2, 1, 0]])
def test_logistic_refuses_what_is_no_probability(labels):
    with pytest.raises(DataError, match="labels from 0 to 1"):
        Logistic(highest=1.0)(SCORES, labels)


def test_logistic_scores_far_out_lose_no_digits():
    assert Logistic()([800.0, -800.0], [1.0, 0.0]).value == 0.0
    assert Logistic()([40.0], [1.0]).value == pytest.approx(np.exp(-40.0))


def test_logistic_refuses_scores_that_are_mean_grades():
    with pytest.raises(IncompatibleError, match=r"scores on both sides of 0.*Use scorer=linear"):
        train(linear_data(30, 8), "recipe(loss=logistic,scorer=nadaraya-watson,solver=projected)")
