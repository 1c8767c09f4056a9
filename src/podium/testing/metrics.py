"""Contract suite of metrics: the mean over orders of ties, a stated range, swaps that never hurt, text that parses."""

from __future__ import annotations

import dataclasses
import itertools
import math
import typing
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from podium.base.arrays import Array
from podium.data.triples import Triples
from podium.jit.compiled import address
from podium.metrics import PRESETS, Metric, evaluate_all
from podium.metrics.conventions import DEFAULT
from podium.metrics.kernels import PREPARE, SWAP
from podium.testing.examples import size
from podium.testing.numbers import near
from podium.testing.refusals import refused

Reference = Callable[..., float]
"""Slow value of a list without ties: (labels in rank order, judged labels from the best, k, **parameters) → value.

k is None for the whole list, the label of a document without judgment is NaN, and the value is NaN if the metric is
not defined.
"""
_CUTOFFS = (1, 2, 3, 5, None)


def check_metric(metric: Metric, *, reference: Reference | None = None) -> None:
    """Run every check on the metric at several cut-offs and parameters; `reference` is its slow value, if given."""
    for variant in metric_variants(type(metric)):
        for check in METRIC_CHECKS.values():
            check(variant)
        if reference is not None:
            equals_reference(variant, reference)


def metric_variants(kind: type[Metric]) -> list[Metric]:
    """The metric at several cut-offs, and with each of its own parameters moved off its default."""
    cut = [kind(k) for k in _CUTOFFS] if kind.conventions.cuts else [kind()]
    return [*cut, *(dataclasses.replace(cut[-1], **{field: value}) for field, value in other_settings(kind))]


def other_settings(kind: type[Metric]) -> list[tuple[str, Any]]:
    """Pairs (parameter, value) with values that are not the default."""
    pairs: list[tuple[str, Any]] = []
    for field in dataclasses.fields(kind):
        hint = kind.own_parameters().get(field.name)
        low = field.metadata.get("above", field.metadata.get("least", 0))
        high = field.metadata.get("below", field.metadata.get("most", low + 2))
        options = typing.get_args(hint)
        if typing.get_origin(hint) is typing.Literal:
            pairs += [(field.name, word) for word in options if word != field.default]
        elif hint is bool:
            pairs.append((field.name, not field.default))
        elif hint is int or int in options:
            pairs.append((field.name, 5))
        elif options and float in options:
            pairs.append((field.name, 5.0))
        elif hint is float:
            pairs.append((field.name, low + 0.3 * (high - low)))
    return pairs


def equals_reference(metric: Metric, reference: Reference) -> None:
    """The mean of the slow value over all orders of tied documents, also with judged documents that are not listed."""
    for scores, labels, rng in _queries(most=6, number=40):
        s = scores if metric.kernel.averages_ties else scores + np.arange(len(scores)) / 100
        missed = (
            rng.integers(0, 5, rng.integers(0, 4)).astype(float) if "ideal" in metric.conventions.uses else np.empty(0)
        )
        judged = np.concatenate([labels, missed])
        own = {name: getattr(metric, name) for name in metric.own_parameters()}
        ideal = sorted(judged.tolist(), reverse=True)
        values = [reference([labels[i] for i in order], ideal, metric.cutoff, **own) for order in _orders(s)]
        more = {"judged": judged, "judged_offsets": [0, len(judged)]} if len(missed) else {}
        expected = math.fsum(values) / len(values)
        _same(_value(metric, s, labels, **more), expected, f"{metric} of scores {s}, labels {labels}, missed {missed}")


def values_lie_in_the_stated_range(metric: Metric) -> None:
    """Between the ends of `range`, or NaN."""
    low, high = metric.range
    for scores, labels, _ in _queries(most=30):
        value = _value(metric, scores, labels)
        assert math.isnan(value) or low - 1e-12 <= value <= high + 1e-12, f"{metric} is {value} of {labels}"


def topics_may_come_in_any_order(metric: Metric) -> None:
    """The numbers of topics do not matter, and values of several topics lie in the range."""
    rng, (low, high) = np.random.default_rng(3), metric.range
    for _ in range(25 if metric.reads_topics else 0):
        n, many = int(rng.integers(1, 9)), int(rng.integers(1, 5))
        pairs = [(d, t) for d in range(n) for t in range(many) if rng.random() < 0.5]
        grades, mixed = rng.integers(0, 3, len(pairs)).astype(float), rng.permutation(many)
        rows = [[d, t, grade] for (d, t), grade in zip(pairs, grades, strict=True)]
        moved = [[d, int(mixed[t]), grade] for (d, t), grade in zip(pairs, grades, strict=True)]
        value, other = (
            float(metric(-np.arange(n), np.zeros(n), [0, n], topics=Triples.from_rows([part]))[0])
            for part in (rows, moved)
        )
        _same(other, value, f"{metric} of topics in another order")
        assert math.isnan(value) or low <= value <= high + 1e-12, f"{metric} is {value} of {rows}"


def the_best_order_has_the_largest_value(metric: Metric) -> None:
    """Ranking by the labels themselves; it is 1 if the metric is normalised."""
    for scores, labels, _ in _queries(most=30) if metric.higher_is_better and metric.monotone else ():
        best, value = _value(metric, labels, labels), _value(metric, scores, labels)
        if not math.isnan(best):
            assert value <= best + 1e-12, f"{metric} of {labels} is {value}, of the best order {best}"
            assert not metric.normalised or abs(best - 1) < 1e-9, f"{metric} of the best order of {labels} is {best}"


def an_improving_swap_never_hurts(metric: Metric) -> None:
    """A better document that changes places with a worse one above it never makes a list worse, if it says so."""
    sign = 1.0 if metric.higher_is_better else -1.0
    for _, labels, rng in _queries(most=20, number=40) if metric.monotone else ():
        i, j = sorted(rng.choice(len(labels), 2)) if len(labels) > 1 else (0, 0)
        better, worse, places = labels.copy(), labels.copy(), -np.arange(len(labels))
        better[[i, j]] = sorted(labels[[i, j]], reverse=True)
        worse[[i, j]] = sorted(labels[[i, j]])
        before, after = _value(metric, places, worse), _value(metric, places, better)
        assert math.isnan(before) or sign * (after - before) >= -1e-12, (
            f"{metric} of {worse} is {before}, of {better} {after}"
        )


def row_order_does_not_matter(metric: Metric) -> None:
    """Rows in another order give the same value."""
    for values, labels, rng in _queries(most=20):
        scores = rng.permutation(len(values)) if metric.reads_topics else values  # its ties are not averaged
        mixed = rng.permutation(len(scores))
        _same(_value(metric, scores[mixed], labels[mixed]), _value(metric, scores, labels), "rows in another order")


def text_gives_it_back(metric: Metric) -> None:
    """Its repr and its tag parse to an equal value, in upper case too, under every preset."""
    for preset in (None, *PRESETS):
        named = metric if preset is None else metric.with_preset(preset)
        for text in (repr(named), named.tag(), repr(named).upper()):
            assert Metric.parse(text) == named, f"{text} parses as {Metric.parse(text)!r}"
        again = Metric.parse(repr(named))
        assert (hash(again), repr(again)) == (hash(named), repr(named)), f"{named!r} parses as {again!r}"


def what_presets_state_is_known(metric: Metric) -> None:
    """Presets and words name fields that the metric has."""
    fields = {"cutoff", "empty", *metric.conventions.uses, *metric.own_parameters()}
    assert set(metric.conventions.presets) <= set(PRESETS), (
        f"there are no presets {set(metric.conventions.presets) - set(PRESETS)}"
    )
    for preset, stated in metric.conventions.presets.items():
        assert set(stated) <= fields, f"{preset} states {set(stated) - fields}, which do not concern {metric.name}"
    unknown = set(metric.conventions.words) - {"divisor", *metric.own_parameters()}
    assert not unknown, f"words for {unknown}, which {metric.name} does not have"


def it_chooses_between_models_or_says_why_not(metric: Metric) -> None:
    """`check_tunes` refuses a metric that order does not matter for, or that is better when lower."""
    if metric.order_matters and metric.higher_is_better:
        metric.check_tunes()
    else:
        refused(metric.check_tunes, says=r"cannot tell which model ranks better.*ndcg@10", when=f"tuning by {metric}")


def a_swap_is_worth_what_swapping_changes(metric: Metric) -> None:
    """For LambdaRank, in the stated types; a metric without swaps is refused there, and others are named."""
    if metric.kernel.swaps is None:
        says = rf"{metric.name} .*swapping.*ndcg"
        refused(metric.swap_functions, says=says, when=f"swaps of {metric}")
        return
    prepare, swap = metric.swap_functions()
    for function, signature in ((prepare, PREPARE), (swap, SWAP)):
        address(function, signature)
    for _, ranked, _ in _queries(most=12, number=40):
        n, pairs = len(ranked), list(itertools.combinations(range(len(ranked)), 2))
        lists = np.tile(ranked, (len(pairs) + 1, 1))  # the last one stays as it is
        for row, (i, j) in zip(lists, pairs, strict=False):
            row[[i, j]] = row[[j, i]]
        values = _values(metric, -np.tile(np.arange(n), len(lists)), lists.ravel(), n * np.arange(len(lists) + 1))
        changes = np.abs(np.nan_to_num(values[:-1]) - np.nan_to_num(values[-1]))
        config, work = metric.config_array(ranked), np.full(metric.work_size(n), np.nan)
        prepare(ranked, -np.sort(-ranked), config, work)
        near([swap(ranked, config, work, i, j) for i, j in pairs], changes, 1e-12, f"swaps of {metric} in {ranked}")


def queries_with_nothing_to_find_follow_the_convention(metric: Metric) -> None:
    """Skipped, or counted 0 or 1; a metric that is never empty has a value for every query."""
    if not metric.conventions.can_be_empty:
        values = _values(metric, [2, 1, 5], [0, 0, 1], [0, 2, 2, 3])
        assert np.isfinite(values).all(), f"{metric} is {values}, but says that it always has a value"
        return
    for empty, expected in (("skip", math.nan), ("zero", metric.conventions.zero), ("one", metric.conventions.one)):
        stated = Metric.parse(f"{dataclasses.replace(metric, convention=DEFAULT)}[empty={empty}]")
        values = _values(stated, [2, 1, 3, 2, 1, 5], [0, 0, 1, 1, 0, 0], [0, 2, 5, 5, 6])
        got = values[[0, 2, 3]]
        assert np.array_equal(got, [expected] * 3, equal_nan=True), f"{stated}: queries with nothing to find are {got}"
        assert values[1] > metric.conventions.zero, (
            f"{stated}: a query with two relevant documents on top is worth {values[1]}"
        )
    if "ideal" in metric.conventions.uses:
        values = metric([1.0, 0.5], [0, 0], [0, 0, 2], judged=[2, 1, 0, 0, 1], judged_offsets=[0, 2, 5])
        assert (values == metric.conventions.zero).all(), f"lists without a relevant document are worth {values}"


def several_metrics_at_once_give_what_each_gives_alone(metric: Metric) -> None:
    """Under every preset, together in one pass over the queries."""
    rng, offsets = np.random.default_rng(0), np.array([0, 5, 5, 12, 13, 40])
    scores, labels = rng.integers(0, 9, 40), rng.integers(0, 3, 40)
    ids = [f"d{i}" for i in rng.permutation(40)]
    metrics = [metric, *(metric.with_preset(preset) for preset in PRESETS)]
    more = {"document_ids": ids, "topics": _one_topic(labels, offsets)}
    for single, values in zip(metrics, evaluate_all(metrics, scores, labels, offsets, **more), strict=True):  # type: ignore[arg-type]
        alone = single(scores, labels, offsets, **more)  # type: ignore[arg-type]
        assert np.array_equal(alone, values, equal_nan=True), f"{single} is {values} with others, {alone} alone"


def scores_and_labels_that_are_no_numbers_are_refused(metric: Metric) -> None:
    """With their row. Infinite scores are numbers: the first and the last."""
    for bad in (math.nan, math.inf, -math.inf):
        labels = [0.0, bad, 1.0]
        refused(lambda labels=labels: _value(metric, [3.0, 2.0, 1.0], labels), says="label of row 1", when=f"{bad}")  # type: ignore[misc]
    refused(lambda: _value(metric, [3.0, 2.0, math.nan], [0.0, 0.0, 1.0]), says="row 2", when="a score of NaN")
    far, near_by = _value(metric, [-math.inf, 0, math.inf, 1], [0, 1, 3, 2]), _value(metric, [1, 2, 4, 3], [0, 1, 3, 2])
    assert far == near_by, f"{metric} with infinite scores is {far}, not {near_by}"


def a_long_query_is_quick(metric: Metric) -> None:
    """100,000 documents: all tied, none tied, one far from the others, few ties. Quadratic would take minutes."""
    n, rng = size(100_000, 500), np.random.default_rng(1)
    spread, low, high = rng.normal(size=n), *metric.range
    outlier = np.where(np.arange(n) == 7, 1e12, spread)
    for scores in (np.zeros(n), spread, outlier, rng.integers(0, 50, n)):
        for labels in (rng.integers(0, 5, n), (rng.random(n) < 0.003).astype(float), np.ones(n)):
            value = _value(metric, scores, labels)
            assert math.isnan(value) or low - 1e-9 <= value <= high + 1e-9, f"{metric} is {value}"


METRIC_CHECKS: dict[str, Callable[[Metric], None]] = {
    check.__name__: check
    for check in (
        values_lie_in_the_stated_range, topics_may_come_in_any_order, the_best_order_has_the_largest_value,
        an_improving_swap_never_hurts, row_order_does_not_matter, text_gives_it_back, what_presets_state_is_known,
        it_chooses_between_models_or_says_why_not, a_swap_is_worth_what_swapping_changes,
        queries_with_nothing_to_find_follow_the_convention, several_metrics_at_once_give_what_each_gives_alone,
        scores_and_labels_that_are_no_numbers_are_refused, a_long_query_is_quick,
    )
}  # fmt: skip
"""Checks of every metric, by name: metric → None."""


def _queries(*, most: int, number: int = 25) -> Iterator[tuple[Any, Any, np.random.Generator]]:
    """(scores, labels) of random queries with ties in both, and the generator to draw more from."""
    rng = np.random.default_rng(most)
    for _ in range(number):
        n = int(rng.integers(1, most + 1))
        yield rng.integers(0, 4, n).astype(float), rng.integers(0, 5, n).astype(float), rng


def _orders(scores: Array) -> Iterator[list[int]]:
    """Every order of the documents that descending scores allow."""
    groups = [np.flatnonzero(scores == value) for value in sorted(set(scores), reverse=True)]
    for parts in itertools.product(*(itertools.permutations(group.tolist()) for group in groups)):
        yield [i for part in parts for i in part]


def _value(metric: Metric, scores: Any, labels: Any, **more: Any) -> float:
    """The value of one query."""
    return float(_values(metric, scores, labels, [0, len(labels)], **more)[0])


def _values(metric: Metric, scores: Any, labels: Any, offsets: Any, **more: Any) -> Array:
    """Values of queries; for a metric that reads topics, labels are the grades for one topic."""
    topics = _one_topic(labels, offsets) if metric.reads_topics else None
    return metric(scores, labels, offsets, topics=topics, **more)


def _one_topic(labels: Any, offsets: Any) -> Triples:
    """The labels as grades for one topic."""
    places = [np.arange(b - a) for a, b in itertools.pairwise(offsets)]
    first = np.concatenate([np.empty(0), *places])
    return Triples(np.column_stack([first, np.zeros(len(first)), labels]), np.asarray(offsets, np.int64))


def _same(got: float, expected: float, what: str) -> None:
    """Both NaN, or equal to 1e−12."""
    same = math.isnan(expected) if math.isnan(got) else abs(got - expected) <= 1e-12 * max(1.0, abs(expected))
    assert same, f"{what}: got {got}, expected {expected}"
