"""What every metric promises, run over the registry."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.metrics import PRESETS, Metric
from podium.testing import METRIC_CHECKS
from podium.testing.examples import size
from podium.testing.metrics import equals_reference, metric_variants, other_settings
from reference import metrics as slow

NAMES = sorted(Metric.catalogue())
SEEING = [name for name in NAMES if Metric.catalogue()[name].kernel.sees_unjudged]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("check", METRIC_CHECKS.values(), ids=lambda check: check.__name__)
def test_every_metric_keeps_its_promises(check, name):
    kind = Metric.catalogue()[name]
    for metric in [kind()] if check.__name__ == "a_long_query_is_quick" else metric_variants(kind):
        check(metric)


@pytest.mark.parametrize("name", NAMES)
def test_the_value_is_the_mean_of_the_slow_one_over_all_orders_of_ties(name):
    assert name in slow.MEASURES, f"tests/reference/metrics.py lacks the slow value of {name}: add it"
    for metric in metric_variants(Metric.catalogue()[name]):
        equals_reference(metric, slow.MEASURES[name])


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


@pytest.mark.parametrize("name", SEEING)
@settings(max_examples=size(60, 3), deadline=None)
@given(query=queries(), missed=st.lists(st.integers(-1, 3), max_size=3), data=st.data())
def test_documents_without_judgment_are_told_from_those_judged_0(
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
    if not Metric.catalogue()[name].kernel.averages_ties:
        scores = [float(-place) for place in range(len(scores))]
    for metric in metric_variants(Metric.catalogue()[name]):
        wanted = slow.expected(name, scores, marked, k=metric.cutoff, judged=judged, **own(metric))
        known = {"judged": judged, "judged_offsets": [0, len(judged)], "unjudged": unjudged}
        assert one(metric, scores, given_labels, **known) == pytest.approx(wanted, abs=1e-12, nan_ok=True)


@settings(max_examples=size(300, 3), deadline=None)
@given(data=st.data())
def test_any_metric_prints_as_text_that_parses_to_it(data: st.DataObject) -> None:
    kind = Metric.catalogue()[data.draw(st.sampled_from(NAMES))]
    settings_of = dict(data.draw(st.lists(st.sampled_from(other_settings(kind) or [("cutoff", None)]))))
    metric = kind(data.draw(st.sampled_from([1, 2, 3, 5, None])) if kind.conventions.cuts else None)
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
        len({*kind.names.spellings, name.replace("-", "_"), (kind.names.prints or name).replace("-", "_")})
        for name, kind in Metric.catalogue().items()
    )
    for name, (kind, _) in names.items():
        assert type(Metric.parse(f"{name}_10" if name.endswith("_cut") else name)) is kind
