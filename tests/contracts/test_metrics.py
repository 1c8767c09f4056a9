"""What every metric must do, run over the registry. Nothing here is edited to add a metric but its slow reference."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.errors import DataError, IncompatibleError
from podium.metrics import PRESETS, Metric, evaluate_all
from podium.metrics.kernels import PREPARE, SWAP
from reference import metrics as slow

NAMES = sorted(Metric.catalogue())
SWAPPABLE = [name for name in NAMES if Metric.catalogue()[name].swaps is not None]
JUDGING = [name for name in NAMES if "ideal" in Metric.catalogue()[name].uses]
CUTOFFS = [1, 2, 3, 5, None]


def variants(name: str) -> list[Metric]:
    """The metric at several cut-offs."""
    kind = Metric.catalogue()[name]
    return [kind(k) for k in CUTOFFS] if kind.cuts else [kind()]


def one(metric: Metric, scores: object, labels: object, **more: object) -> float:
    """The value of one query."""
    return float(metric(scores, labels, [0, len(labels)], **more)[0])  # type: ignore[arg-type]


@st.composite
def queries(draw: st.DrawFn, most: int = 6) -> tuple[list[float], list[float]]:
    """(scores, labels) of one query, with ties in both."""
    n = draw(st.integers(1, most))
    scores = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    labels = draw(st.lists(st.integers(0, 4), min_size=n, max_size=n))
    return [float(s) for s in scores], [float(y) for y in labels]


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(query=queries())
def test_ties_give_the_mean_over_all_their_orders(name: str, query: tuple[list[float], list[float]]) -> None:
    scores, labels = query
    for metric in variants(name):
        if not metric.averages_ties:
            scores = [s + i / 100 for i, s in enumerate(scores)]
        wanted = slow.expected(name, scores, labels, k=metric.cutoff)
        assert one(metric, scores, labels) == pytest.approx(wanted, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", JUDGING)
@settings(max_examples=25, deadline=None)
@given(query=queries(most=5), missed=st.lists(st.integers(0, 4), max_size=3))
def test_judged_documents_outside_the_list_count_for_the_ideal(
    name: str, query: tuple[list[float], list[float]], missed: list[int]
) -> None:
    scores, labels = query
    judged = [*labels, *map(float, missed)]
    for metric in variants(name):
        wanted = slow.expected(name, scores, labels, k=metric.cutoff, judged=judged)
        found = one(metric, scores, labels, judged=judged, judged_offsets=[0, len(judged)])
        assert found == pytest.approx(wanted, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25, deadline=None)
@given(query=queries(most=30))
def test_values_lie_in_the_stated_range(name: str, query: tuple[list[float], list[float]]) -> None:
    for metric in variants(name):
        value = one(metric, *query)
        low, high = metric.range
        assert math.isnan(value) or low - 1e-12 <= value <= high + 1e-12


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25, deadline=None)
@given(query=queries(most=30))
def test_the_best_order_has_the_largest_value_and_it_is_1_where_normalised(
    name: str, query: tuple[list[float], list[float]]
) -> None:
    scores, labels = query
    for metric in variants(name):
        best = one(metric, labels, labels)
        if not math.isnan(best):
            assert one(metric, scores, labels) <= best + 1e-12
            assert not metric.normalised or best == pytest.approx(1.0)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(labels=st.lists(st.integers(0, 4), min_size=2, max_size=20), data=st.data())
def test_an_improving_swap_never_hurts(name: str, labels: list[int], data: st.DataObject) -> None:
    i, j = sorted(data.draw(st.lists(st.integers(0, len(labels) - 1), min_size=2, max_size=2, unique=True)))
    better = list(labels)
    better[i], better[j] = max(labels[i], labels[j]), min(labels[i], labels[j])
    worse = list(better)
    worse[i], worse[j] = better[j], better[i]
    places = -np.arange(len(labels))
    for metric in variants(name):
        before, after = one(metric, places, worse), one(metric, places, better)
        assert math.isnan(before) or after >= before - 1e-12


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=25, deadline=None)
@given(query=queries(most=20), seed=st.integers(0, 99))
def test_the_order_of_rows_does_not_matter(name: str, query: tuple[list[float], list[float]], seed: int) -> None:
    scores, labels = map(np.array, query)
    mixed = np.random.default_rng(seed).permutation(len(scores))
    for metric in variants(name):
        wanted = one(metric, scores, labels)
        assert one(metric, scores[mixed], labels[mixed]) == pytest.approx(wanted, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", NAMES)
def test_names_and_tags_parse_to_the_same_value(name: str) -> None:
    for metric, preset in itertools.product(variants(name), [None, *PRESETS]):
        named = metric if preset is None else metric.with_preset(preset)
        for text in (repr(named), named.tag(), repr(named).upper()):
            assert Metric.parse(text) == named
        assert hash(Metric.parse(repr(named))) == hash(named)
        assert repr(Metric.parse(repr(named))) == repr(named)


@pytest.mark.parametrize("name", SWAPPABLE)
@settings(max_examples=40, deadline=None)
@given(labels=st.lists(st.integers(0, 4), min_size=2, max_size=12))
def test_a_swap_is_worth_what_swapping_changes(name: str, labels: list[int]) -> None:
    n, ranked = len(labels), np.array(labels, float)
    swaps = list(itertools.combinations(range(n), 2))
    lists = np.tile(ranked, (len(swaps) + 1, 1))  # the last one stays as it is
    for row, (i, j) in zip(lists, swaps, strict=False):
        row[[i, j]] = row[[j, i]]
    for metric in variants(name):
        values = metric(-np.tile(np.arange(n), len(lists)), lists.ravel(), n * np.arange(len(lists) + 1))
        changes = np.abs(np.nan_to_num(values[:-1]) - np.nan_to_num(values[-1]))
        (prepare, swap), config = metric.swap_functions(), metric.config_array(ranked)
        work = np.full(metric.work_size(n), np.nan)
        prepare(ranked, -np.sort(-ranked), config, work)
        np.testing.assert_allclose([swap(ranked, config, work, i, j) for i, j in swaps], changes, atol=1e-12)


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(SWAPPABLE)))
def test_a_metric_without_swaps_says_so_and_names_others(name: str) -> None:
    with pytest.raises(IncompatibleError, match=rf"{name} .*swapping.*ndcg"):
        Metric.parse(name).swap_functions()


@pytest.mark.parametrize("name", SWAPPABLE)
def test_swap_functions_have_the_stated_types(name: str) -> None:
    for function, signature in zip(Metric.parse(name).swap_functions(), (PREPARE, SWAP), strict=True):
        function.compile(signature)
        assert function.overloads[signature.args].signature.return_type == signature.return_type


@pytest.mark.parametrize("name", NAMES)
def test_a_query_with_nothing_to_find_is_skipped_or_counted_as_the_convention_says(name: str) -> None:
    for empty, wanted in (("skip", math.nan), ("zero", 0.0), ("one", 1.0)):
        metric = Metric.parse(f"{name}[empty={empty}]")
        values = metric([2, 1, 3, 2, 1, 5], [0, 0, 1, 1, 0, 0], [0, 2, 5, 5, 6])
        np.testing.assert_array_equal(values[[0, 2, 3]], [wanted] * 3)
        assert values[1] > 0


@pytest.mark.parametrize("name", JUDGING)
def test_a_list_that_found_none_of_the_judged_documents_is_worth_nothing(name: str) -> None:
    values = Metric.parse(name)([1.0, 0.5], [0, 0], [0, 0, 2], judged=[2, 1, 0, 0, 1], judged_offsets=[0, 2, 5])
    np.testing.assert_array_equal(values, [0.0, 0.0])


@pytest.mark.parametrize("name", NAMES)
def test_several_metrics_at_once_give_what_each_gives_alone(name: str) -> None:
    rng = np.random.default_rng(0)
    offsets = np.array([0, 5, 5, 12, 13, 40])
    scores, labels = rng.integers(0, 9, 40), rng.integers(0, 3, 40)
    ids = [f"d{i}" for i in rng.permutation(40)]
    metrics = [Metric.parse(name, preset=preset) for preset in (None, *PRESETS)]
    together = evaluate_all(metrics, scores, labels, offsets, document_ids=ids)
    for metric, values in zip(metrics, together, strict=True):
        np.testing.assert_array_equal(metric(scores, labels, offsets, document_ids=ids), values)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("case", ["all tied", "spread", "outlier", "few ties"])
def test_a_query_of_100_000_documents_is_quick(name: str, case: str) -> None:
    n, rng = 100_000, np.random.default_rng(1)
    spread = rng.normal(size=n)
    scores = {
        "all tied": np.zeros(n),
        "spread": spread,
        "outlier": np.where(np.arange(n) == 7, 1e12, spread),
        "few ties": rng.integers(0, 50, n),
    }[case]
    metric = Metric.parse(name)
    for labels in (rng.integers(0, 5, n), (rng.random(n) < 0.003).astype(float), np.ones(n)):
        value = one(metric, scores, labels)
        assert math.isnan(value) or metric.range[0] - 1e-9 <= value <= metric.range[1] + 1e-9


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_labels_that_are_no_number_are_refused_with_their_row(name: str, bad: float) -> None:
    with pytest.raises(DataError, match="label of row 1"):
        one(Metric.parse(name), [3.0, 2.0, 1.0], [0.0, bad, 1.0])


@pytest.mark.parametrize("name", NAMES)
def test_scores_that_are_no_number_are_refused_with_their_row(name: str) -> None:
    with pytest.raises(DataError, match="row 2"):
        one(Metric.parse(name), [3.0, 2.0, np.nan], [0.0, 0.0, 1.0])


@pytest.mark.parametrize("name", NAMES)
def test_infinite_scores_are_the_first_and_the_last(name: str) -> None:
    metric = Metric.parse(name)
    assert one(metric, [-np.inf, 0, np.inf, 1], [0, 1, 3, 2]) == one(metric, [1, 2, 4, 3], [0, 1, 3, 2])
