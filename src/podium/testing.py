"""The contract suites: what every loss and every distribution promises, for those who add one here or elsewhere.

    from podium.testing import check_loss
    check_loss(MyLoss())

A check is a function of a value and an example; it raises AssertionError and says what broke. Examples are drawn in
general position: no two scores near each other, no difference near a kink, because losses that look at ranks jump.
"""

from __future__ import annotations

import dataclasses
import itertools
import typing
from collections.abc import Callable, Iterator
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from podium.data.dataset import Dataset
from podium.data.preferences import Preferences, from_labels
from podium.distributions import RankingDistribution
from podium.errors import PodiumError
from podium.losses import Derivatives, Loss, PairwiseLoss, product, sweep
from podium.registry import Named, field_types

N = TypeVar("N", bound=Named)
Array = NDArray[np.float64]
Reference = Callable[[Any, Array, Array], float]
"""The slow and obvious value of a loss: (loss, scores, labels) → value."""


def check_loss(loss: Loss, *, reference: Reference | None = None, examples: int = 10, seed: int = 0) -> None:
    """Run every check of losses on random examples; `reference` is the value by brute force, if there is one."""
    rng = np.random.default_rng(seed)
    for _ in range(examples):
        scores, labels = draw_query(rng, int(rng.integers(1, 9)))
        for check in LOSS_CHECKS.values():
            check(loss, scores, labels)
        if reference is not None:
            equals_reference(loss, scores, labels, reference)


def check_distribution(law: RankingDistribution, *, examples: int = 3, seed: int = 0) -> None:
    """Run every check of distributions on random scores."""
    rng = np.random.default_rng(seed)
    for size in range(1, examples + 1):
        scores, _ = draw_query(rng, min(size + 1, 5))
        for check in DISTRIBUTION_CHECKS.values():
            check(law, scores)


def draw_query(rng: np.random.Generator, n: int, *, scale: float = 1.0) -> tuple[Array, Array]:
    """Scores in general position and grades from 0 to 3, for n documents."""
    labels = rng.integers(0, 4, n).astype(np.float64)
    return general_position(rng.permutation(n), rng.uniform(-1, 1, n), scale=scale), labels


def general_position(places: ArrayLike, jitter: ArrayLike, *, scale: float = 1.0) -> Array:
    """Scores from distinct whole numbers and jitter in [−1, 1]; at scale 1 no difference is within .03 of 0 or 1."""
    return scale * (0.37 * np.asarray(places, np.float64) + 0.04 * np.asarray(jitter, np.float64))


def instances(cls: type[N]) -> Iterator[N]:
    """A value with its defaults, and one with every parameter that can be moved off its default."""
    yield cls()
    moved = {}
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        hint, default = field_types(cls)[field.name], getattr(cls(), field.name)
        if typing.get_origin(hint) is Literal:
            moved[field.name] = next(option for option in typing.get_args(hint) if option != default)
        elif isinstance(default, bool):
            moved[field.name] = not default
        elif isinstance(default, (int, float)):
            moved[field.name] = _beside(default, field.metadata.get("most", np.inf))
    if moved:
        yield cls(**moved)


def derivative_is_right(loss: Loss, scores: Array, labels: Array) -> None:
    """The gradient is the derivative of the objective, which equals the value here."""
    got, objective = loss(scores, labels), loss.objective(scores, labels)
    _near(objective(scores), got.value, 1e-9, "the objective, at the scores themselves, against the value")
    _near(got.gradient, _slopes(objective, scores), 1e-6, "gradient against finite differences")


def derivative_of_parameters_is_right(loss: Loss, scores: Array, labels: Array) -> None:
    """The derivatives of learned parameters are those of the value."""
    slopes = _slopes(lambda theta: loss.with_learned(theta)(scores, labels).value, loss.learned_values())
    _near(loss(scores, labels).params, slopes, 1e-6, "derivatives of learned parameters against finite differences")


def curvature_is_right(loss: Loss, scores: Array, labels: Array) -> None:
    """The curvature is the second derivative of the objective, or a bound that boosting can divide by."""
    got, objective = loss(scores, labels), loss.objective(scores, labels)
    if loss.surrogate is None:
        exact, tolerance = np.diag(_slopes(lambda s: loss(s, labels).gradient, scores)), 1e-6
    else:
        exact, tolerance = _bends(objective, scores), 1e-4
    if loss.curvature_is == "exact":
        _near(got.curvature, exact, tolerance, "curvature against finite differences")
        return
    slack = tolerance * max(1.0, np.abs(got.curvature).max(initial=0.0))
    assert (got.curvature >= exact - slack).all(), f"curvature {got.curvature} is no bound of {exact}"
    stuck = (np.abs(got.gradient) > 1e-9) & (got.curvature <= 0)
    assert not stuck.any(), f"no curvature where the gradient is {got.gradient[stuck]}"


def product_is_right(loss: Loss, scores: Array, labels: Array) -> None:
    """Where a loss offers its Hessian times a direction, that is the derivative of the gradient along it."""
    data = Dataset.from_arrays(np.zeros((len(scores), 1)), labels, group=[len(scores)])
    edges = dataclasses.replace(data, preferences=from_labels(labels, data.offsets, ties=loss.compares_ties))
    direction = np.cos(3.0 * np.arange(len(scores)) + scores)
    for kernel, known in ((loss.grades_product, data), (loss.edges_product, edges)):
        if kernel is None:
            continue

        def gradient(t: Array, known: Dataset = known) -> Array:
            return sweep(loss, scores + t[0] * direction, known).gradient

        got = product(loss, scores, known, direction=direction)
        _near(got, _slopes(gradient, np.zeros(1))[0], 1e-6, "Hessian times direction against finite differences")


def order_of_rows_does_not_matter(loss: Loss, scores: Array, labels: Array) -> None:
    """Permuting documents permutes their derivatives, ties in scores included."""
    turn = np.roll(np.arange(len(scores)), 1)[::-1]
    for s in (scores, np.round(scores), np.zeros_like(scores)):
        here, there = loss(s, labels), loss(s[turn], labels[turn])
        _near(there.value, here.value, 1e-9, "value, rows in another order,")
        _near(there.gradient, here.gradient[turn], 1e-9, "gradient, rows in another order,")
        _near(there.curvature, here.curvature[turn], 1e-9, "curvature, rows in another order,")


def shift_changes_nothing(loss: Loss, scores: Array, labels: Array) -> None:
    """Where a loss says so, a number added to all scores changes nothing, and gradients sum to 0."""
    if loss.shift_invariant:
        here, there = loss(scores, labels), loss(scores + 3.25, labels)
        _near(there.value, here.value, 1e-9, "value of shifted scores")
        _near(there.gradient, here.gradient, 1e-9, "gradient of shifted scores")
        _near(here.gradient.sum(), 0.0, 1e-9 * (1.0 + np.abs(here.gradient).sum()), "sum of gradients")


def extreme_scores_are_finite(loss: Loss, scores: Array, labels: Array) -> None:
    """Scores up to ±1000 give finite numbers, and no negative curvature; so do equal scores."""
    wide = 1e3 * np.sign(np.sin(9 * scores)) * (np.arange(len(scores)) % 3 > 0)
    for s in (wide, 1e3 * scores / max(np.abs(scores).max(initial=0.0), 1e-3), np.zeros_like(scores)):
        _finite(loss(s, labels), f"scores {s}")


def no_preference_gives_nothing(loss: Loss, scores: Array, labels: Array) -> None:
    """One document, no document, and equal grades: finite, and 0 where the loss is made of pairs."""
    for n, equal in ((0, False), (1, False), (len(scores), True)):
        got = loss(scores[:n], np.full(n, 2.0) if equal else labels[:n])
        _finite(got, f"{n} documents, {'equal' if equal else 'any'} grades")
        if isinstance(loss, PairwiseLoss) and not loss.compares_ties:
            assert not np.any([got.value, *got.gradient]), f"{n} documents without a preference give {got}"
        if n == 1 and loss.shift_invariant:
            assert not got.gradient.any(), f"one document has gradient {got.gradient}"


def edges_of_grades_are_grades(loss: Loss, scores: Array, labels: Array) -> None:
    """Edges that grades imply give what grades give; an edge of P̄ is the turned edge of 1 − P̄."""
    if loss.edges is None or loss.grades is None:
        return
    edges = from_labels(labels, np.array([0, len(labels)]), ties=loss.compares_ties).edges
    _same(loss(scores, edges), loss(scores, labels), "edges against grades")
    odds = np.linspace(0.1, 0.9, len(edges))
    there = np.column_stack([edges[:, :2], odds]).reshape(-1, 3)
    back = np.column_stack([edges[:, 1], edges[:, 0], 1 - odds]).reshape(-1, 3)
    _same(loss(scores, there), loss(scores, back), "turned edges")


def text_gives_it_back(loss: Loss, scores: Array, labels: Array) -> None:
    """Its repr parses to an equal value."""
    assert Loss.parse(repr(loss)) == loss, f"{loss!r} parses as {Loss.parse(repr(loss))!r}"


def nothing_given_is_changed(loss: Loss, scores: Array, labels: Array) -> None:
    """Scores and labels are as before."""
    s, y = scores.copy(), labels.copy()
    loss(s, y)
    assert np.array_equal([s, y], [scores, labels]), "the loss changed its arguments"


def sweep_is_the_sum_of_queries(loss: Loss, scores: Array, labels: Array) -> None:
    """A dataset gives each query what the query alone gives, times its weight, to the same bits on 1 and 2 threads."""
    copies = 5000 // max(len(scores), 1) + 1
    s = np.concatenate([scores * (1 + k % 3) for k in range(copies)])
    weights = (1.0 + np.arange(copies) % 4).astype(np.float64)
    data = Dataset.from_arrays(np.zeros((len(s), 1)), np.tile(labels, copies), group=np.full(copies, len(scores)))
    data = dataclasses.replace(data, query_weights=weights)
    one, two = sweep(loss, s, data, threads=1), sweep(loss, s, data, threads=2)
    for field in dataclasses.fields(Derivatives):
        assert np.array_equal(getattr(one, field.name), getattr(two, field.name)), f"threads change {field.name}"
    for k in range(3):
        alone, rows = loss(scores * (1 + k), labels), slice(k * len(scores), (k + 1) * len(scores))
        _near(one.per_query[k], weights[k] * alone.value, 1e-12, f"value of query {k} in a sweep")
        _near(one.gradient[rows], weights[k] * alone.gradient, 1e-12, f"gradient of query {k} in a sweep")
        _near(one.curvature[rows], weights[k] * alone.curvature, 1e-12, f"curvature of query {k} in a sweep")
    _near(one.value, one.per_query.sum(), 1e-12, "value of a sweep")


def document_weights_count(loss: Loss, scores: Array, labels: Array) -> None:
    """A document of weight w counts as w queries in which it alone is relevant; slopes of the sum are right."""
    n = len(scores)
    if loss.grades is None or n == 0:
        return
    weights = np.where(np.arange(n) % 3 == 1, 0.0, 0.5 + np.arange(n) % 4)
    data = Dataset(np.zeros((n, 0), np.float32), None, np.array([0, n]), document_weights=weights)
    got = sweep(loss, scores, data)
    parts = [(w, loss(scores, one)) for w, one in zip(weights, np.eye(n), strict=True) if w]
    _near(got.value, sum(w * part.value for w, part in parts), 1e-12, "value with document weights")
    for field in ("gradient", "curvature", "params"):
        expected = sum((w * getattr(part, field) for w, part in parts), np.zeros_like(getattr(got, field)))
        _near(getattr(got, field), expected, 1e-12, f"{field} with document weights")
    if loss.grades_product is not None:
        v = np.cos(np.arange(n) + scores)
        expected = sum(
            (
                w * product(loss, scores, _one_query(one), direction=v)
                for w, one in zip(weights, np.eye(n), strict=True)
            ),
            np.zeros(n),
        )
        _near(
            product(loss, scores, data, direction=v), expected, 1e-12, "Hessian times direction with document weights"
        )


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
        v, one = np.cos(np.arange(len(scores)) + scores), _one_query(labels)
        here, there = (
            product(
                loss, scores, dataclasses.replace(one, preferences=Preferences(e, np.array([0, len(e)]))), direction=v
            )
            for e in (weighted, both)
        )
        _near(here, there, 1e-9, "Hessian times direction, an edge of weight 2 against two edges")


def equals_reference(loss: Loss, scores: Array, labels: Array, reference: Reference) -> None:
    """The value is that of brute force, also for scores far apart."""
    for scale in (1.0, 30.0, 300.0):
        s = scale * scores
        _near(loss(s, labels).value, reference(loss, s, labels), 1e-9, f"value against brute force, scale {scale}")


LOSS_CHECKS: dict[str, Callable[[Loss, Array, Array], None]] = {
    check.__name__: check
    for check in (
        derivative_is_right, derivative_of_parameters_is_right, curvature_is_right, product_is_right,
        order_of_rows_does_not_matter, shift_changes_nothing, extreme_scores_are_finite, no_preference_gives_nothing,
        edges_of_grades_are_grades, text_gives_it_back, nothing_given_is_changed, sweep_is_the_sum_of_queries,
        document_weights_count, edge_weights_count,
    )
}  # fmt: skip
"""What every loss promises, by name: (loss, scores, labels) → None."""


def all_rankings(n: int, *, ties: bool) -> list[NDArray[np.int64]]:
    """Every ranking of n documents: n! strict ones, or the ordered partitions."""
    ways = itertools.product(range(1, n + 1), repeat=n)
    return [np.array(way, np.int64) for way in ways if len(set(way)) == (max(way, default=0) if ties else n)]


def probabilities_sum_to_one(law: RankingDistribution, scores: Array) -> None:
    """Over all rankings."""
    _near(sum(_probabilities(law, scores)), 1.0, 1e-9, "the sum of all probabilities")


def marginals_are_those_of_all_rankings(law: RankingDistribution, scores: Array) -> None:
    """Rank marginals and preferences are what summing over all rankings gives."""
    n = len(scores)
    marginals, prefers = np.zeros((n, n)), np.zeros((n, n))
    for ranks, p in zip(all_rankings(n, ties=law.has_ties), _probabilities(law, scores), strict=True):
        marginals[np.arange(n), ranks - 1] += p
        prefers += p * (ranks[:, None] < ranks)
    _near(law.rank_marginals(scores), marginals, 1e-8, "rank marginals against enumeration")
    _near(law.prefers(scores), prefers, 1e-8, "preferences against enumeration")


def mode_is_most_probable(law: RankingDistribution, scores: Array) -> None:
    """No ranking is more probable than the mode."""
    best = max(_probabilities(law, scores))
    _near(np.exp(law.log_prob(scores, law.mode(scores))), best, 1e-9, "the probability of the mode against the largest")


def samples_follow_the_law(law: RankingDistribution, scores: Array) -> None:
    """Drawn rankings are as frequent as they are probable, within five standard errors."""
    size = 4000
    drawn = law.sample(scores, np.random.default_rng(1), size)
    assert drawn.shape == (size, len(scores)), f"{size} samples of {len(scores)} documents have shape {drawn.shape}"
    again = law.sample(scores, np.random.default_rng(1), size)
    assert np.array_equal(drawn, again), "the same seed gives other samples"
    for ranks, p in zip(all_rankings(len(scores), ties=law.has_ties), _probabilities(law, scores), strict=True):
        often = (drawn == ranks).all(axis=1).mean()
        slack = 5 * np.sqrt(p * (1 - p) / size) + 1 / size
        assert abs(often - p) <= slack, f"{ranks} is drawn with frequency {often:.4f}, its probability is {p:.4f}"


def marginals_are_probabilities(law: RankingDistribution, scores: Array) -> None:
    """Rows sum to 1, and for strict rankings columns; preferences and their opposites sum to 1 at most."""
    longer = np.concatenate([scores + k for k in range(4)])
    for s in (scores, longer, 100.0 * longer):
        marginals, prefers = law.rank_marginals(s), law.prefers(s)
        _near(marginals.sum(axis=1), np.ones(len(s)), 1e-8, "sums over ranks")
        both = prefers + prefers.T
        assert min(marginals.min(), prefers.min(), 1 + 1e-9 - both.max()) >= 0, "a probability is outside 0 … 1"
        if not law.has_ties:
            _near(marginals.sum(axis=0), np.ones(len(s)), 1e-8, "sums over documents")
            _near(both, 1.0 - np.eye(len(s)), 1e-9, "one comes before the other")


def law_follows_rows_and_shifts(law: RankingDistribution, scores: Array) -> None:
    """Renumbering documents, or adding a number to all scores, changes no probability; extremes stay finite."""
    turn = np.roll(np.arange(len(scores)), 1)[::-1]
    for ranks in all_rankings(len(scores), ties=law.has_ties)[:50]:
        here = law.log_prob(scores, ranks)
        _near(law.log_prob(scores[turn], ranks[turn]), here, 1e-9, "log-probability of renumbered documents")
        _near(law.log_prob(scores + 2.5, ranks), here, 1e-9, "log-probability of shifted scores")
        assert np.isfinite(law.log_prob(1e3 * scores, ranks)), f"log-probability of {ranks} at scores {1e3 * scores}"


def ties_are_refused_in_words(law: RankingDistribution, scores: Array) -> None:
    """A law of strict rankings says that it has no ties."""
    if law.has_ties or len(scores) < 2:
        return
    try:
        law.log_prob(scores, np.ones(len(scores)))
    except PodiumError:
        return
    raise AssertionError(f"{law.name} gives a ranking with ties a probability, but says that it has none")


DISTRIBUTION_CHECKS: dict[str, Callable[[RankingDistribution, Array], None]] = {
    check.__name__: check
    for check in (
        probabilities_sum_to_one, marginals_are_those_of_all_rankings, mode_is_most_probable, samples_follow_the_law,
        marginals_are_probabilities, law_follows_rows_and_shifts, ties_are_refused_in_words,
    )
}  # fmt: skip
"""What every distribution promises, by name: (law, scores) → None. Scores are few, so that rankings can be listed."""


def _one_query(labels: Array) -> Dataset:
    return Dataset(np.zeros((len(labels), 0), np.float32), labels, np.array([0, len(labels)]))


def _probabilities(law: RankingDistribution, scores: Array) -> list[float]:
    return [float(np.exp(law.log_prob(scores, ranks))) for ranks in all_rankings(len(scores), ties=law.has_ties)]


def _beside(value: float, most: float) -> float:
    if isinstance(value, int):
        return value + 3 if value + 3 <= most else value - 1
    other = 1.7 * value if value else 0.3
    return other if other <= most else 0.6 * value


def _slopes(f: Callable[[Array], Any], at: Array, h: float = 2e-4) -> Array:
    """The derivatives of f along each axis, to fourth order; of a vector, the Jacobian."""
    steps = h * np.eye(len(at))
    rows = [8 * (f(at + e) - f(at - e)) - (f(at + 2 * e) - f(at - 2 * e)) for e in steps]
    return np.array(rows, np.float64) / (12 * h)


def _bends(f: Callable[[Array], float], at: Array, h: float = 2e-3) -> Array:
    """The second derivatives of f along each axis, to fourth order."""
    steps = h * np.eye(len(at))
    rows = [16 * (f(at + e) + f(at - e)) - (f(at + 2 * e) + f(at - 2 * e)) - 30 * f(at) for e in steps]
    return np.array(rows, np.float64) / (12 * h * h)


def _near(got: Any, expected: Any, tolerance: float, what: str) -> None:
    """Equal within `tolerance`, relative to the largest number or absolute below 1."""
    a, b = np.asarray(got, np.float64), np.asarray(expected, np.float64)
    assert a.shape == b.shape, f"{what}: shape {a.shape}, expected {b.shape}"
    error = np.abs(a - b).max(initial=0.0) if a.size else 0.0
    scale = max(1.0, np.abs(b).max(initial=0.0)) if b.size else 1.0
    assert error <= tolerance * scale, f"{what}: got {a}, expected {b}"


def _same(got: Derivatives, expected: Derivatives, what: str) -> None:
    _near(got.value, expected.value, 1e-9, f"{what}: value")
    _near(got.gradient, expected.gradient, 1e-9, f"{what}: gradient")
    _near(got.curvature, expected.curvature, 1e-9, f"{what}: curvature")


def _finite(got: Derivatives, what: str) -> None:
    assert np.isfinite(got.value), f"{what}: value {got.value}"
    assert np.isfinite(got.gradient).all(), f"{what}: gradient {got.gradient}"
    assert (np.isfinite(got.curvature) & (got.curvature >= 0)).all(), f"{what}: curvature {got.curvature}"
