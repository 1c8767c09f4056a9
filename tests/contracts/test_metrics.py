"""What every metric must do, run over the registry. Nothing here is edited to add a metric but its slow reference."""

from __future__ import annotations

import dataclasses
import itertools
import math
import typing
from dataclasses import replace

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
EMPTY = [name for name in NAMES if Metric.catalogue()[name].can_be_empty]
SEEING = [name for name in NAMES if Metric.catalogue()[name].sees_unjudged]
CUTOFFS = [1, 2, 3, 5, None]


def variants(name: str) -> list[Metric]:
    """The metric at several cut-offs, and with each of its own parameters moved off its default."""
    kind = Metric.catalogue()[name]
    cut = [kind(k) for k in CUTOFFS] if kind.cuts else [kind()]
    moved = [replace(cut[-1], **{field: value}) for field, value in other_settings(kind)]
    return [*cut, *moved]


def other_settings(kind: type[Metric]) -> list[tuple[str, object]]:
    """(parameter, value) of settings that are not the default."""
    found = []
    for field in dataclasses.fields(kind):
        hint = kind.own_parameters().get(field.name)
        low = field.metadata.get("above", field.metadata.get("least", 0))
        high = field.metadata.get("below", field.metadata.get("most", low + 2))
        options = typing.get_args(hint)
        if typing.get_origin(hint) is typing.Literal:
            found += [(field.name, word) for word in options if word != field.default]
        elif hint is int or int in options:
            found.append((field.name, 5))
        elif hint is float:
            found.append((field.name, low + 0.3 * (high - low)))
    return found


def own(metric: Metric) -> dict[str, object]:
    """Its own parameters."""
    return {name: getattr(metric, name) for name in metric.own_parameters()}


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
        wanted = slow.expected(name, scores, labels, k=metric.cutoff, **own(metric))
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
        if not metric.averages_ties:
            scores = [s + i / 100 for i, s in enumerate(scores)]
        wanted = slow.expected(name, scores, labels, k=metric.cutoff, judged=judged, **own(metric))
        found = one(metric, scores, labels, judged=judged, judged_offsets=[0, len(judged)])
        assert found == pytest.approx(wanted, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("name", SEEING)
@settings(max_examples=60, deadline=None)
@given(query=queries(), missed=st.lists(st.integers(-1, 3), max_size=3), data=st.data())
def test_documents_without_judgement_are_told_from_those_judged_0(
    name: str, query: tuple[list[float], list[float]], missed: list[int], data: st.DataObject
) -> None:
    scores, labels = query
    kinds = data.draw(
        st.lists(st.sampled_from(["judged", "pooled", "none"]), min_size=len(labels), max_size=len(labels))
    )
    unjudged = [kind == "none" for kind in kinds]
    marked = [math.nan if k == "none" else -1.0 if k == "pooled" else y for k, y in zip(kinds, labels, strict=True)]
    judged = [*(y for y in marked if not math.isnan(y)), *map(float, missed)]
    given_labels = [0.0 if math.isnan(y) else y for y in marked]
    for metric in variants(name):
        wanted = slow.expected(name, scores, marked, k=metric.cutoff, judged=judged, **own(metric))
        known = {"judged": judged, "judged_offsets": [0, len(judged)], "unjudged": unjudged}
        assert one(metric, scores, given_labels, **known) == pytest.approx(wanted, abs=1e-12, nan_ok=True)


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
        if not math.isnan(best) and metric.higher_is_better:
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
            assert Metric.parse(text) == named, text
        assert hash(Metric.parse(repr(named))) == hash(named)
        assert repr(Metric.parse(repr(named))) == repr(named)


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_any_metric_prints_as_text_that_parses_to_it(data: st.DataObject) -> None:
    kind = Metric.catalogue()[data.draw(st.sampled_from(NAMES))]
    settings_of = dict(data.draw(st.lists(st.sampled_from(other_settings(kind) or [("cutoff", None)]))))
    metric = kind(data.draw(st.sampled_from(CUTOFFS)) if kind.cuts else None)
    preset = data.draw(st.sampled_from([None, *PRESETS]))
    metric = metric if preset is None else metric.with_preset(preset)
    metric = replace(metric, **{name: value for name, value in settings_of.items() if name != "cutoff"})
    changes = data.draw(st.sampled_from([{}, {"empty": "one"}, {"relevant": 2.5}, {"ties": "best", "floor": 0.0}]))
    metric = replace(metric, convention=replace(metric.convention, **changes))
    assert Metric.parse(repr(metric)) == metric
    assert Metric.parse(metric.tag()) == metric


def test_no_name_is_claimed_by_two_metrics_and_every_spelling_parses() -> None:
    names = Metric._names()
    assert len(names) == sum(
        len({*kind.spellings, name.replace("-", "_"), (kind.prints or name).replace("-", "_")})
        for name, kind in Metric.catalogue().items()
    )
    for name, (kind, _) in names.items():
        assert type(Metric.parse(f"{name}_10" if name.endswith("_cut") else name)) is kind


@pytest.mark.parametrize("name", NAMES)
def test_what_presets_state_for_a_metric_is_known(name: str) -> None:
    kind = Metric.catalogue()[name]
    known = {"cutoff", "empty", *kind.uses, *kind.own_parameters()}
    assert set(kind.presets) <= set(PRESETS)
    assert all(set(stated) <= known for stated in kind.presets.values())
    assert set(kind.words) <= {"divisor", *kind.own_parameters()}


@pytest.mark.parametrize("name", NAMES)
def test_a_metric_chooses_between_models_or_says_why_not(name: str) -> None:
    metric = Metric.parse(name)
    if metric.order_matters and metric.higher_is_better:
        metric.check_tunes()
        return
    with pytest.raises(IncompatibleError, match=r"cannot tell which model ranks better.*ndcg@10"):
        metric.check_tunes()


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


@pytest.mark.parametrize("name", EMPTY)
def test_a_query_with_nothing_to_find_is_skipped_or_counted_as_the_convention_says(name: str) -> None:
    kind = Metric.catalogue()[name]
    for empty, wanted in (("skip", math.nan), ("zero", kind.zero), ("one", kind.one)):
        metric = Metric.parse(f"{name}[empty={empty}]")
        values = metric([2, 1, 3, 2, 1, 5], [0, 0, 1, 1, 0, 0], [0, 2, 5, 5, 6])
        np.testing.assert_array_equal(values[[0, 2, 3]], [wanted] * 3)
        assert values[1] > kind.zero


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(EMPTY)))
def test_a_metric_that_is_never_empty_has_a_value_for_every_query(name: str) -> None:
    assert np.isfinite(Metric.parse(name)([2, 1, 5], [0, 0, 1], [0, 2, 2, 3])).all()


@pytest.mark.parametrize("name", sorted(set(JUDGING) & set(EMPTY)))
def test_a_list_that_found_none_of_the_judged_documents_is_worth_nothing(name: str) -> None:
    metric = Metric.parse(name)
    values = metric([1.0, 0.5], [0, 0], [0, 0, 2], judged=[2, 1, 0, 0, 1], judged_offsets=[0, 2, 5])
    np.testing.assert_array_equal(values, [metric.zero] * 2)


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
