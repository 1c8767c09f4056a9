"""The tests of the tests: kernels broken in the ways that kernels break, each of which the suite must catch.

Most are RankNet with one line changed. A broken kernel goes into an unregistered copy of its loss.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numba
import numpy as np
import pytest

from podium.kernels.blocks import clear
from podium.losses import ListNet, Loss, PairwiseLoss
from podium.losses.pairs import scale
from podium.losses.sweep import GRADES
from podium.testing import LOSS_CHECKS, check_loss, draw_query, equals_reference, instances
from reference.losses import REFERENCES


def compiled(function: Any) -> Any:
    return numba.njit(GRADES, error_model="numpy")(function)


@numba.njit(error_model="numpy")
def _add(v: Any, slope: Any, bend: Any, i: Any, j: Any, gradient: Any, curvature: Any) -> Any:
    gradient[i] += slope
    gradient[j] -= slope
    curvature[i] += bend
    curvature[j] += bend
    return v


def ranknet_with(pair: Any) -> Any:
    """RankNet's kernel with another pair function: (δ, σ) → (φ, φ', φ'')."""
    pair = numba.njit(error_model="numpy")(pair)

    def kernel(scores, labels, gradient, curvature, params):
        clear(gradient, curvature)
        value, n_edges = 0.0, 0
        for i in range(len(scores)):
            for j in range(len(scores)):
                if labels[i] > labels[j]:
                    v, slope, bend = pair(scores[i] - scores[j], params[0, 1])
                    value += _add(v, slope, bend, i, j, gradient, curvature)
                    n_edges += 1
        return scale(value, n_edges, gradient, curvature, params)

    return compiled(kernel)


def right_pair(delta, sigma):
    e = math.exp(-abs(sigma * delta))
    p = e / (1.0 + e) if delta > 0.0 else 1.0 / (1.0 + e)
    return max(-sigma * delta, 0.0) + math.log1p(e), -sigma * p, sigma * sigma * p * (1.0 - p)


def overflowing_pair(delta, sigma):
    p = 1.0 / (1.0 + math.exp(sigma * delta))
    return math.log(1.0 + math.exp(-sigma * delta)), -sigma * p, sigma * sigma * p * (1.0 - p)


def epsilon_in_the_logarithm(delta, sigma):
    p = 1.0 / (1.0 + math.exp(-min(max(sigma * delta, -700.0), 700.0)))
    return -math.log(p + 1e-6), -sigma * (1.0 - p), sigma * sigma * p * (1.0 - p)


def value_in_bits(delta, sigma):
    e = math.exp(-abs(sigma * delta))
    p = e / (1.0 + e) if delta > 0.0 else 1.0 / (1.0 + e)
    return (max(-sigma * delta, 0.0) + math.log1p(e)) / math.log(2.0), -sigma * p, sigma * sigma * p * (1.0 - p)


def gradient_without_sigma(delta, sigma):
    e = math.exp(-abs(sigma * delta))
    p = e / (1.0 + e) if delta > 0.0 else 1.0 / (1.0 + e)
    return max(-sigma * delta, 0.0) + math.log1p(e), -p, sigma * sigma * p * (1.0 - p)


def curvature_without_sigma_squared(delta, sigma):
    e = math.exp(-abs(sigma * delta))
    p = e / (1.0 + e) if delta > 0.0 else 1.0 / (1.0 + e)
    return max(-sigma * delta, 0.0) + math.log1p(e), -sigma * p, p * (1.0 - p)


def wrong_sign(delta, sigma):
    e = math.exp(-abs(sigma * delta))
    p = e / (1.0 + e) if delta > 0.0 else 1.0 / (1.0 + e)
    return max(-sigma * delta, 0.0) + math.log1p(e), sigma * p, sigma * sigma * p * (1.0 - p)


def mean_of_values_only(scores, labels, gradient, curvature, params):
    """The value is divided by the number of documents, the gradient is not."""
    clear(gradient, curvature)
    value = 0.0
    for i in range(len(scores)):
        gradient[i] = 2.0 * (scores[i] - labels[i])
        curvature[i] = 2.0
        value += (scores[i] - labels[i]) ** 2 / len(scores)
    return value


def ties_by_row_order(scores, labels, gradient, curvature, params):
    """ListMLE along a stable sort of the grades: of equal grades the first row wins."""
    clear(gradient, curvature)
    order = np.argsort(-labels, kind="mergesort")
    value = 0.0
    for k in range(len(order)):
        total = 0.0
        for l in range(k, len(order)):
            total += math.exp(scores[order[l]] - scores[order[k]])
        value += math.log(total)
        gradient[order[k]] -= 1.0
        for l in range(k, len(order)):
            p = math.exp(scores[order[l]] - scores[order[k]]) / total
            gradient[order[l]] += p
            curvature[order[l]] += p * (1.0 - p)
    return value


def suffix_off_by_one(scores, labels, gradient, curvature, params):
    """ListMLE whose denominators leave out the document that is chosen; ties do not occur in its test."""
    clear(gradient, curvature)
    order = np.argsort(-labels)
    value = 0.0
    for k in range(len(order) - 1):
        total = 0.0
        for l in range(k + 1, len(order)):
            total += math.exp(scores[order[l]])
        value += math.log(total) - scores[order[k]]
        gradient[order[k]] -= 1.0
        for l in range(k + 1, len(order)):
            p = math.exp(scores[order[l]]) / total
            gradient[order[l]] += p
            curvature[order[l]] += p * (1.0 - p)
    return value


def softmax_over_the_wrong_set(scores, labels, gradient, curvature, params):
    """ListNet whose softmax runs over relevant documents only, consistently in value and derivatives."""
    clear(gradient, curvature)
    total, wanted, value = 0.0, 0.0, 0.0
    low, high, top = 1e300, -1e300, -1e300
    for i in range(len(scores)):
        low, high, top = min(low, labels[i]), max(high, labels[i]), max(top, scores[i])
    if low >= high:
        return 0.0
    for i in range(len(scores)):
        wanted += math.exp(labels[i] - high)
        if labels[i] > low:
            total += math.exp(scores[i] - top)
    for i in range(len(scores)):
        w = math.exp(labels[i] - high) / wanted
        value -= w * (scores[i] - top)
        value += w * max(math.log(total), -700.0)
        p = math.exp(scores[i] - top) / total if labels[i] > low else 0.0
        gradient[i] = p - w
        curvature[i] = p * (1.0 - p)
    return value


def squared_error(scores, labels, gradient, curvature, params):
    """Regression without a bug."""
    value = 0.0
    for i in range(len(scores)):
        gradient[i] = 2.0 * (scores[i] - labels[i])
        curvature[i] = 2.0
        value += (scores[i] - labels[i]) ** 2
    return value


def forgets_the_first_document(scores, labels, gradient, curvature, params):
    """Stale memory: the gradient of the first document is added to what was there before."""
    value = 0.0
    for i in range(len(scores)):
        gradient[i] = 2.0 * (scores[i] - labels[i]) + (1e-3 * (scores[0] > scores[-1]) if i == 0 else 0.0)
        curvature[i] = 2.0
        value += (scores[i] - labels[i]) ** 2
    return value


@dataclass(frozen=True, repr=False)
class Pairs(PairwiseLoss):
    """RankNet in all but its kernel."""

    name: ClassVar[str] = "ranknet"
    sigma: float = 1.0
    ties: ClassVar[bool] = False
    kernel: ClassVar[Any] = None

    @property
    def grades(self) -> Any:
        return type(self).kernel


@dataclass(frozen=True, repr=False)
class Pointwise(Loss):
    """Regression in all but its kernel."""

    name: ClassVar[str] = "regression"
    target: ClassVar[str] = "label"
    shift_invariant: ClassVar[bool] = False


@dataclass(frozen=True, repr=False)
class Listwise(ListNet):
    """ListNet in all but its kernel."""

    name: ClassVar[str] = "listnet"


@dataclass(frozen=True, repr=False)
class Strict(Loss):
    """ListMLE in all but its kernel, with one tie-break."""

    name: ClassVar[str] = "listmle"
    k: ClassVar[int | None] = None
    samples: ClassVar[int] = 1
    seed: ClassVar[int] = 0
    weights: ClassVar[str] = "none"


def broken(base: type[Loss], kernel: Any) -> type[Loss]:
    """A copy of a loss with a broken kernel."""
    field = "kernel" if base is Pairs else "grades"
    return type(base.__name__, (base,), {field: staticmethod(kernel)})


BUGS = {
    "log(1 + exp) overflows": (Pairs, overflowing_pair, {"extreme_scores_are_finite"}),
    "epsilon in the logarithm": (Pairs, epsilon_in_the_logarithm, {"derivative_is_right", "brute force"}),
    "bits against nats": (Pairs, value_in_bits, {"derivative_is_right", "brute force"}),
    "gradient without sigma": (Pairs, gradient_without_sigma, {"derivative_is_right"}),
    "curvature without sigma²": (Pairs, curvature_without_sigma_squared, {"curvature_is_right"}),
    "sign": (Pairs, wrong_sign, {"derivative_is_right"}),
    "mean instead of sum": (Pointwise, mean_of_values_only, {"derivative_is_right", "brute force"}),
    "ties by the order of rows": (Strict, ties_by_row_order, {"order_of_rows_does_not_matter"}),
    "suffix off by one": (Strict, suffix_off_by_one, {"brute force"}),
    "softmax over the wrong set": (Listwise, softmax_over_the_wrong_set, {"brute force"}),
    "one gradient is off": (Pointwise, forgets_the_first_document, {"derivative_is_right"}),
}


SLOW = {"sweep_is_the_sum_of_queries", "no_preference_gives_nothing"}
"""Not run: the first is long, the second is not what these kernels are broken in."""


def complaints(cls: type[Loss], *, ties: bool = True) -> set[str]:
    """The checks that fail for some instance on some of a few queries, with ties in grades or without."""
    found, rng = set(), np.random.default_rng(5)
    for loss in instances(cls):
        for n in (2, 3, 5, 6, 7):
            scores, labels = draw_query(rng, n)
            labels = labels if ties else rng.permutation(n).astype(float)
            for name, check in LOSS_CHECKS.items():
                if name not in SLOW:
                    found |= {name} if fails(check, loss, scores, labels) else set()
            found |= {"brute force"} if fails(equals_reference, loss, scores, labels, REFERENCES[loss.name]) else set()
    return found


def fails(check: Any, *arguments: Any) -> bool:
    try:
        check(*arguments)
    except AssertionError:
        return True
    return False


def planted(base: type[Loss], function: Any) -> type[Loss]:
    return broken(base, ranknet_with(function) if base is Pairs else compiled(function))


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_caught_by_the_check_made_for_it(bug):
    base, function, expected = BUGS[bug]
    assert complaints(planted(base, function), ties="ties" in bug) >= expected


@pytest.mark.parametrize(("base", "function"), [(Pairs, right_pair), (Pointwise, squared_error)])
def test_a_copy_without_a_bug_passes(base, function):
    assert complaints(planted(base, function)) == set()


def test_a_strict_copy_without_a_bug_passes_where_there_are_no_ties():
    found = complaints(planted(Strict, ties_by_row_order), ties=False)
    assert found <= {"order_of_rows_does_not_matter", "extreme_scores_are_finite"}


def test_check_loss_runs_every_check():
    check_loss(Loss.parse("ranknet"), reference=REFERENCES["ranknet"], examples=2)
    with pytest.raises(AssertionError, match="brute force"):
        check_loss(Loss.parse("ranknet"), reference=REFERENCES["hinge"], examples=2)
