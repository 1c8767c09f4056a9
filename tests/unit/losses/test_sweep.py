"""The loop over queries, and what a loss says to data that does not fit."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from podium.base.errors import DataError, IncompatibleError
from podium.data.dataset import Dataset
from podium.jit.compiled import compiled
from podium.losses import ListNet, Loss, RankNet, Regression, sweep
from podium.testing.losses import derivative_is_right, derivative_of_parameters_is_right


def data(labels=None, **more):
    return Dataset.from_arrays(np.zeros((4, 1)), labels, group=[3, 1], **more)


def test_the_wrong_number_of_scores_is_refused():
    with pytest.raises(DataError, match="3 scores for 4 documents"):
        sweep(RankNet(), np.zeros(3), data([0, 1, 2, 0]))


def test_the_wrong_number_of_labels_is_refused():
    with pytest.raises(DataError, match="2 labels for 3 scores"):
        RankNet()([1, 2, 3], [0, 1])


def test_an_edge_to_nowhere_is_refused():
    with pytest.raises(DataError, match="row 7, but there are 3 rows"):
        RankNet()([1, 2, 3], [[0, 7]])


def test_a_listwise_loss_does_not_take_preferences():
    with pytest.raises(IncompatibleError, match=r"listnet learns from grades.*pairwise loss such as ranknet"):
        sweep(ListNet(), np.zeros(4), data(preferences=([0], [1])))
    with pytest.raises(IncompatibleError, match="listnet does not learn from preferences"):
        ListNet()([1.0, 2.0], [[0, 1]])


def test_data_without_labels_is_refused():
    with pytest.raises(IncompatibleError, match="neither labels nor preferences"):
        sweep(RankNet(), np.zeros(4), data())


def test_preferences_come_before_grades():
    both = data([0, 1, 2, 0], preferences=([0], [1]))
    assert sweep(RankNet(), np.zeros(4), both).value == pytest.approx(np.log(2))
    assert sweep(ListNet(), np.zeros(4), both).value > 0


def test_queries_may_be_empty():
    empty = Dataset.from_arrays(np.zeros((3, 1)), [0, 1, 2], group=[0, 3, 0])
    for loss in map(Loss.parse, Loss.catalogue()):
        assert sweep(loss, np.array([0.1, 0.2, 0.4]), empty).per_query[[0, 2]].tolist() == [0, 0], loss


def test_many_queries_of_uneven_length_give_the_same_bits_on_any_threads():
    rng = np.random.default_rng(0)
    sizes = rng.integers(0, 300, 80)
    n = sizes.sum()
    many = Dataset.from_arrays(np.zeros((n, 1)), rng.integers(0, 4, n), group=sizes)
    scores = rng.normal(size=n)
    for loss in map(Loss.parse, Loss.catalogue()):
        one, three = (sweep(loss, scores, many, threads=threads) for threads in (1, 3))
        assert one.value == three.value
        assert one.gradient.tobytes() == three.gradient.tobytes()


def test_a_sweep_of_some_queries_is_that_of_all_there_and_0_elsewhere():
    rng = np.random.default_rng(1)
    sizes = rng.integers(0, 300, 80)
    n = sizes.sum()
    weights = rng.random(80)
    many = Dataset.from_arrays(np.zeros((n, 1)), rng.integers(0, 4, n), group=sizes, query_weights=weights)
    scores, some = rng.normal(size=n), np.sort(rng.choice(80, 50, replace=False))
    of_query, of_document = np.isin(np.arange(80), some), np.repeat(np.isin(np.arange(80), some), sizes)
    for loss in map(Loss.parse, ("lambdarank", "listnet", "xe-ndcg", "sum(of=[ranknet,softmax])")):
        every = sweep(loss, scores, many)
        for threads in (1, 3):
            part = sweep(loss, scores, many, queries=some, threads=threads)
            np.testing.assert_array_equal(part.gradient, np.where(of_document, every.gradient, 0.0))
            np.testing.assert_array_equal(part.curvature, np.where(of_document, every.curvature, 0.0))
            np.testing.assert_array_equal(part.per_query, np.where(of_query, every.per_query, 0.0))
        assert sweep(loss, scores, many, queries=some[:0]).value == 0.0


@pytest.mark.parametrize("name", [name for name, cls in Loss.catalogue().items() if cls.grades is not None])
def test_where_arrays_are_in_memory_does_not_change_a_bit(name):
    """Kernels allocate room for their sums: small arrays, whose distances depend on what was freed before."""
    rng, loss, kept = np.random.default_rng(0), Loss.parse(name), []
    for n in range(2, 20):
        grades, scores = rng.integers(0, 4, n), rng.normal(size=n)
        seen = set()
        for _ in range(15):
            kept.append(np.empty(int(rng.integers(1, 40))))
            if rng.random() < 0.5:
                kept.pop(int(rng.integers(len(kept))))
            derivatives = loss(scores, grades)
            seen.add((derivatives.value, derivatives.gradient.tobytes(), derivatives.curvature.tobytes()))
        assert len(seen) == 1, f"{n} documents"


@compiled
def _scaled(scores: Any, labels: Any, gradient: Any, curvature: Any, params: Any) -> float:
    """Σ (a·s_i − y_i)², a learned."""
    value, a = 0.0, params[0, 1]
    for i in range(len(scores)):
        error = a * scores[i] - labels[i]
        value += error * error
        gradient[i] = 2.0 * a * error
        curvature[i] = 2.0 * a * a
        params[1, 1] += 2.0 * error * scores[i]
    return value


@dataclass(frozen=True, repr=False)
class Scaled(Loss):
    name: ClassVar[str] = "scaled"
    learned: ClassVar[tuple[str, ...]] = ("factor",)
    offset: float = 0.0
    factor: float = 1.5
    grades = staticmethod(_scaled)


def test_learned_parameters_get_their_derivatives():
    scores, labels = np.array([0.5, -1.0, 2.0]), np.array([1.0, 0.0, 2.0])
    derivative_is_right(Scaled(), scores, labels)
    derivative_of_parameters_is_right(Scaled(), scores, labels)
    assert Scaled().with_learned([2.5]) == Scaled(factor=2.5)


def test_learned_parameters_sum_over_weighted_queries():
    weighted = Dataset.from_arrays(np.zeros((3, 1)), [1, 0, 2], group=[2, 1], query_weights=[3, 5])
    scores = np.array([0.5, -1.0, 2.0])
    parts = [Scaled()(scores[:2], [1, 0]).params, Scaled()(scores[2:], [2]).params]
    assert sweep(Scaled(), scores, weighted).params == pytest.approx(3 * parts[0] + 5 * parts[1])


def test_regression_on_gains():
    assert Regression(target="gain")([1.0], [3]).value == (1 - (2**3 - 1)) ** 2
