"""Contract suite of losses: exact derivatives, row order that does not matter, finite numbers, equal threads."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.data.dataset import Dataset
from podium.data.preferences import Preferences, from_labels
from podium.losses import Derivatives, Loss, PairwiseLoss, product, sweep
from podium.testing.examples import draw_query, size
from podium.testing.names import text_gives_it_back
from podium.testing.numbers import bends, near, slopes

Reference = Callable[[Any, Array, Array], float]
"""Slow and obvious value of a loss: (loss, scores, labels) → value."""


def check_loss(loss: Loss, *, reference: Reference | None = None, examples: int = 10, seed: int = 0) -> None:
    """Run every check of losses on random examples; `reference` is the value by brute force, if there is one."""
    text_gives_it_back(loss)
    rng = np.random.default_rng(seed)
    for _ in range(examples):
        scores, labels = draw_query(rng, int(rng.integers(1, 9)))
        for check in LOSS_CHECKS.values():
            check(loss, scores, labels)
        if reference is not None:
            equals_reference(loss, scores, labels, reference)


def derivative_is_right(loss: Loss, scores: Array, labels: Array) -> None:
    """The gradient is the derivative of the objective, which equals the value here."""
    got, objective = loss(scores, labels), loss.objective(scores, labels)
    near(objective(scores), got.value, 1e-9, "the objective, at the scores themselves, against the value")
    near(got.gradient, slopes(objective, scores), 1e-6, "gradient against finite differences")


def derivative_of_parameters_is_right(loss: Loss, scores: Array, labels: Array) -> None:
    """The derivatives of learned parameters are those of the value."""
    exact = slopes(lambda theta: loss.with_learned(theta)(scores, labels).value, loss.learned_values())
    near(loss(scores, labels).params, exact, 1e-6, "derivatives of learned parameters against finite differences")


def curvature_is_right(loss: Loss, scores: Array, labels: Array) -> None:
    """The curvature is the second derivative of the objective, or a bound that boosting can divide by."""
    got, objective = loss(scores, labels), loss.objective(scores, labels)
    if loss.surrogate is None:
        exact, tolerance = np.diag(slopes(lambda s: loss(s, labels).gradient, scores)), 1e-6
    else:
        exact, tolerance = bends(objective, scores), 1e-4
    if loss.curvature_is == "exact":
        near(got.curvature, exact, tolerance, "curvature against finite differences")
        return
    slack = tolerance * max(1.0, np.abs(got.curvature).max(initial=0.0))
    assert (got.curvature >= exact - slack).all(), f"curvature {got.curvature} is no bound of {exact}"
    stuck = (np.abs(got.gradient) > 1e-9) & (got.curvature <= 0)
    assert not stuck.any(), f"no curvature where the gradient is {got.gradient[stuck]}"


def product_is_right(loss: Loss, scores: Array, labels: Array) -> None:
    """The Hessian times a direction, if a loss has it, is the derivative of the gradient along it."""
    data = Dataset.from_arrays(np.zeros((len(scores), 1)), labels, group=[len(scores)]).grouped()
    edges = dataclasses.replace(data, preferences=from_labels(labels, data.offsets, ties=loss.compares_ties))
    direction = np.cos(3.0 * np.arange(len(scores)) + scores)
    for kernel, labelled in ((loss.grades_product, data), (loss.edges_product, edges)):
        if kernel is None:
            continue

        def gradient(t: Array, labelled: Dataset = labelled) -> Array:
            return sweep(loss, scores + t[0] * direction, labelled).gradient

        got = product(loss, scores, labelled, direction=direction)
        near(got, slopes(gradient, np.zeros(1))[0], 1e-6, "Hessian times direction against finite differences")


def order_of_rows_does_not_matter(loss: Loss, scores: Array, labels: Array) -> None:
    """Permuting documents permutes their derivatives, ties in scores included."""
    turn = np.roll(np.arange(len(scores)), 1)[::-1]
    for s in (scores, np.round(scores), np.zeros_like(scores)):
        here, there = loss(s, labels), loss(s[turn], labels[turn])
        near(there.value, here.value, 1e-9, "value, rows in another order,")
        near(there.gradient, here.gradient[turn], 1e-9, "gradient, rows in another order,")
        near(there.curvature, here.curvature[turn], 1e-9, "curvature, rows in another order,")


def shift_changes_nothing(loss: Loss, scores: Array, labels: Array) -> None:
    """If a loss says so, a number added to all scores changes nothing, and gradients sum to 0."""
    if loss.shift_invariant:
        here, there = loss(scores, labels), loss(scores + 3.25, labels)
        near(there.value, here.value, 1e-9, "value of shifted scores")
        near(there.gradient, here.gradient, 1e-9, "gradient of shifted scores")
        near(here.gradient.sum(), 0.0, 1e-9 * (1.0 + np.abs(here.gradient).sum()), "sum of gradients")


def extreme_scores_are_finite(loss: Loss, scores: Array, labels: Array) -> None:
    """Scores up to ±1000 give finite numbers, and no negative curvature; so do equal scores."""
    wide = 1e3 * np.sign(np.sin(9 * scores)) * (np.arange(len(scores)) % 3 > 0)
    for s in (wide, 1e3 * scores / max(np.abs(scores).max(initial=0.0), 1e-3), np.zeros_like(scores)):
        _finite(loss(s, labels), f"scores {s}")


def no_preference_gives_nothing(loss: Loss, scores: Array, labels: Array) -> None:
    """One document, no document, and equal grades: finite, and 0 if the loss is a sum over pairs."""
    for n, equal in ((0, False), (1, False), (len(scores), True)):
        got = loss(scores[:n], np.full(n, 2.0) if equal else labels[:n])
        _finite(got, f"{n} documents, {'equal' if equal else 'any'} grades")
        if isinstance(loss, PairwiseLoss) and not loss.compares_ties:
            assert not np.any([got.value, *got.gradient]), f"{n} documents without a preference give {got}"
        if n == 1 and loss.shift_invariant:
            assert not got.gradient.any(), f"one document has gradient {got.gradient}"


def edges_of_grades_are_grades(loss: Loss, scores: Array, labels: Array) -> None:
    """Edges that grades imply give the same as grades; an edge of P̄ is the turned edge of 1 − P̄."""
    if loss.edges is None or loss.grades is None:
        return
    edges = from_labels(labels, np.array([0, len(labels)]), ties=loss.compares_ties).edges
    _same(loss(scores, edges), loss(scores, labels), "edges against grades")
    odds = np.linspace(0.1, 0.9, len(edges))
    there = np.column_stack([edges[:, :2], odds]).reshape(-1, 3)
    back = np.column_stack([edges[:, 1], edges[:, 0], 1 - odds]).reshape(-1, 3)
    _same(loss(scores, there), loss(scores, back), "turned edges")


def nothing_given_is_changed(loss: Loss, scores: Array, labels: Array) -> None:
    """Scores and labels are as before."""
    s, y = scores.copy(), labels.copy()
    loss(s, y)
    assert np.array_equal([s, y], [scores, labels]), "the loss changed its arguments"


def sweep_is_the_sum_of_queries(loss: Loss, scores: Array, labels: Array) -> None:
    """A dataset gives each query the same as the query alone, times its weight; same bits on 1 and 2 threads."""
    copies = size(5000, 16) // max(len(scores), 1) + 3
    s = np.concatenate([scores * (1 + k % 3) for k in range(copies)])
    weights = (1.0 + np.arange(copies) % 4).astype(np.float64)
    data = Dataset.from_arrays(np.zeros((len(s), 1)), np.tile(labels, copies), group=np.full(copies, len(scores)))
    data = dataclasses.replace(data.grouped(), query_weights=weights)
    single, double = sweep(loss, s, data, threads=1), sweep(loss, s, data, threads=2)
    for field in dataclasses.fields(Derivatives):
        assert np.array_equal(getattr(single, field.name), getattr(double, field.name)), f"threads change {field.name}"
    for k in range(3):
        alone, rows = loss(scores * (1 + k), labels), slice(k * len(scores), (k + 1) * len(scores))
        near(single.per_query[k], weights[k] * alone.value, 1e-12, f"value of query {k} in a sweep")
        near(single.gradient[rows], weights[k] * alone.gradient, 1e-12, f"gradient of query {k} in a sweep")
        near(single.curvature[rows], weights[k] * alone.curvature, 1e-12, f"curvature of query {k} in a sweep")
    near(single.value, single.per_query.sum(), 1e-12, "value of a sweep")


def document_weights_count(loss: Loss, scores: Array, labels: Array) -> None:
    """A document of weight w counts as w queries in which it alone is relevant, in the value and all derivatives."""
    n = len(scores)
    if loss.grades is None or n == 0:
        return
    weights = np.where(np.arange(n) % 3 == 1, 0.0, 0.5 + np.arange(n) % 4)
    data = Dataset(np.zeros((n, 0), np.float32), None, np.array([0, n]), document_weights=weights)
    got = sweep(loss, scores, data)
    parts = [(w, loss(scores, relevant)) for w, relevant in zip(weights, np.eye(n), strict=True) if w]
    near(got.value, sum(w * part.value for w, part in parts), 1e-12, "value with document weights")
    for field in ("gradient", "curvature", "params"):
        expected = sum((w * getattr(part, field) for w, part in parts), np.zeros_like(getattr(got, field)))
        near(getattr(got, field), expected, 1e-12, f"{field} with document weights")
    if loss.grades_product is not None:
        v, expected = np.cos(np.arange(n) + scores), np.zeros(n)
        for w, relevant in zip(weights, np.eye(n), strict=True):
            expected += w * product(loss, scores, _one_query(relevant), direction=v)
        near(product(loss, scores, data, direction=v), expected, 1e-12, "Hessian times direction, document weights")


def offsets_are_exact_if_it_says_so(loss: Loss, scores: Array, labels: Array) -> None:
    """With the logarithms of examination probabilities as offsets, the minimum for expected clicks is relevance."""
    n = len(scores)
    if not loss.offsets_are_exact or n == 0:
        return
    relevance, looked = 1.0 / (1.0 + np.exp(-scores)), 1.0 / (1.3 + np.arange(n) + labels)
    whole = Dataset(np.zeros((n, 0), np.float32), None, np.array([0, n]), document_weights=relevance)
    partly = dataclasses.replace(whole, document_weights=relevance * looked, score_offsets=np.log(looked))
    for data, what in ((whole, "all ranks are examined"), (partly, "ranks are examined, with offsets")):
        near(sweep(loss, np.log(relevance), data).gradient, np.zeros(n), 1e-9, f"gradient at the truth if {what}")


def edge_weights_count(loss: Loss, scores: Array, labels: Array) -> None:
    """An edge of weight 2 counts like two edges."""
    edges = from_labels(labels, np.array([0, len(labels)]), ties=loss.compares_ties).edges
    if loss.edges is None or not loss.weighs_edges or not len(edges):
        return
    edges[:, 2] = np.linspace(0.1, 0.9, len(edges))
    twice = np.arange(len(edges)) % 2 == 0
    weighted = edges.copy()
    weighted[twice, 3] = 2.0
    both = np.concatenate([edges, edges[twice]])
    _same(loss(scores, weighted), loss(scores, both), "an edge of weight 2 against two edges")
    if loss.edges_product is not None:
        v, products = np.cos(np.arange(len(scores)) + scores), []
        for rows in (weighted, both):
            preferences = Preferences(rows, np.array([0, len(rows)]))
            data = dataclasses.replace(_one_query(labels), preferences=preferences)
            products.append(product(loss, scores, data, direction=v))
        near(products[0], products[1], 1e-9, "Hessian times direction, an edge of weight 2 against two edges")


def equals_reference(loss: Loss, scores: Array, labels: Array, reference: Reference) -> None:
    """The value is that of brute force, also for scores far apart."""
    for scale in (1.0, 30.0, 300.0):
        s = scale * scores
        near(loss(s, labels).value, reference(loss, s, labels), 1e-9, f"value against brute force, scale {scale}")


LOSS_CHECKS: dict[str, Callable[[Loss, Array, Array], None]] = {
    check.__name__: check
    for check in (
        derivative_is_right, derivative_of_parameters_is_right, curvature_is_right, product_is_right,
        order_of_rows_does_not_matter, shift_changes_nothing, extreme_scores_are_finite, no_preference_gives_nothing,
        edges_of_grades_are_grades, nothing_given_is_changed, sweep_is_the_sum_of_queries, document_weights_count,
        offsets_are_exact_if_it_says_so, edge_weights_count,
    )
}  # fmt: skip
"""Checks of every loss, by name: (loss, scores, labels) → None."""


def _one_query(labels: Array) -> Dataset:
    return Dataset(np.zeros((len(labels), 0), np.float32), labels, np.array([0, len(labels)]))


def _same(got: Derivatives, expected: Derivatives, what: str) -> None:
    near(got.value, expected.value, 1e-9, f"{what}: value")
    near(got.gradient, expected.gradient, 1e-9, f"{what}: gradient")
    near(got.curvature, expected.curvature, 1e-9, f"{what}: curvature")


def _finite(got: Derivatives, what: str) -> None:
    assert np.isfinite(got.value), f"{what}: value {got.value}"
    assert np.isfinite(got.gradient).all(), f"{what}: gradient {got.gradient}"
    assert (np.isfinite(got.curvature) & (got.curvature >= 0)).all(), f"{what}: curvature {got.curvature}"
