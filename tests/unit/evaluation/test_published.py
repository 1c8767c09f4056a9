"""Figures of papers beside one's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from podium.comparison.spec import read_spec
from podium.evaluation.compare import Comparison, Outcome
from podium.evaluation.evaluate import read_metrics
from podium.evaluation.published import published
from podium.evaluation.report_texts import beside_published
from podium.methods import method
from podium.metrics import Metric
from podium.pages.report import page_data

OHSUMED = ({"fold": "all", "features": 45, "parts": {"test": {"queries": 106, "documents": 16140}}},)
TRANSFORMS = ("zscore", "second-order(correlation=0.15)")
METRICS = read_metrics(["ndcg@10", "ndcg@1", "map"], "letor3")


def comparison(data: tuple[dict[str, Any], ...] = OHSUMED, metrics: tuple[Metric, ...] = METRICS) -> Comparison:
    outcomes = tuple(
        Outcome(name, "all", name, {}, 0.0, ("1", "2"), np.full((len(metrics), 2), 0.25), None)
        for name in ("ranknet", "listnet", "adarank-map")
    )
    return Comparison(metrics, 0, outcomes, data)


def test_methods_that_papers_tell_of_stand_beside_their_figures() -> None:
    found = beside_published(comparison())
    assert found is not None
    (heads, rows), known = found
    assert heads == ["method", "ndcg@10", "published", "ndcg@1", "published"]
    assert rows == [
        ["listnet", "0.2500", "0.441", "0.2500", "0.533"],
        ["adarank-map", "0.2500", "0.410, 0.44", "0.2500", "0.491, 0.54"],
    ]
    assert known.name == "OHSUMED (LETOR 3.0)"


@pytest.mark.parametrize(
    ("data", "preset"),
    [
        ((), "letor3"),
        (({**OHSUMED[0], "features": 46},), "letor3"),
        (({**OHSUMED[0], "parts": {"test": {"queries": 105, "documents": 16140}}},), "letor3"),
    ],
    ids=["no data", "other features", "other queries"],
)
def test_other_data_has_none(data: tuple[dict[str, Any], ...], preset: str | None) -> None:
    metrics = read_metrics(["ndcg@10"], preset)
    assert published(data, metrics) is None
    assert beside_published(comparison(data, metrics)) is None


def test_where_conventions_differ_the_figures_stand_with_a_caveat() -> None:
    found = beside_published(comparison(OHSUMED, read_metrics(["ndcg@10"])))
    assert found is not None
    (heads, rows), known = found
    assert (heads, rows[0]) == (["method", "ndcg@10", "published"], ["listnet", "0.2500", "0.441"])
    assert known.caveat == ("; they follow the convention letor3, these means do not: compare with --preset letor3.")
    both = beside_published(comparison(OHSUMED, read_metrics(["ndcg@10", "ndcg@10[letor3]"])))
    assert both is not None
    assert both[0][0] == ["method", "ndcg@10", "published"]
    assert both[1].caveat == ""


def test_the_page_knows_them() -> None:
    found = page_data(comparison())["published"]
    assert found["figures"]["ndcg@10[letor3]"] == {"ranknet": "", "listnet": "0.441", "adarank-map": "0.410, 0.44"}
    assert page_data(comparison(()))["published"] is None


def sizes(queries: int, documents: int, features: int) -> tuple[dict[str, Any], ...]:
    return ({"fold": "all", "features": features, "parts": {"test": {"queries": queries, "documents": documents}}},)


def test_figures_with_fewer_digits_of_the_same_number_are_not_repeated() -> None:
    known = published(OHSUMED, read_metrics(["ndcg@1", "ndcg@10"], "letor3"))
    assert known is not None
    first, tenth = read_metrics(["ndcg@1", "ndcg@10"], "letor3")
    assert known.text(first, "regression") == "0.445"  # and 0.45 in the other table
    assert known.text(tenth, "svm-map") == "0.43"


def test_every_figure_of_the_table_of_freno_has_its_row_in_the_spec() -> None:
    spec = read_spec("paper:freno-2011-table-1")
    known = published(OHSUMED, read_metrics(spec.metrics, spec.preset))
    assert known is not None
    assert all(known.text(metric, name) for metric in read_metrics(spec.metrics, "letor3") for name in spec.methods)


def test_sets_with_the_same_number_of_queries_are_known_by_their_name() -> None:
    [metric] = read_metrics(["ndcg@10"], "letor3")
    texts = []
    for name in ("TD2004", "NP2004", "HP2004"):
        known = published(sizes(75, 1000, 64), [metric], dataset=name)
        assert known is not None
        texts.append(known.text(metric, "listnet"))
    assert texts == ["0.32", "0.81", "0.78"]
    assert published(sizes(75, 1000, 64), [metric], dataset="other") is None
    assert published(sizes(74, 1000, 64), [metric], dataset="TD2004") is None


def test_a_benchmark_of_random_splits_is_known_by_all_its_parts() -> None:
    parts = {"train": (17000, 400000), "valid": (944, 23134), "test": (2000, 50000)}
    fold = {
        "fold": "Fold1",
        "features": 700,
        "parts": {name: {"queries": q, "documents": n} for name, (q, n) in parts.items()},
    }
    spec = read_spec("paper:truyen-2011-table-1")
    metrics = read_metrics(spec.metrics, None)
    known = published((fold,), metrics)
    assert known is not None
    assert known.caveat == ""
    assert all(known.text(metric, name) for metric in metrics for name in spec.methods)
    first, second = (f"ranknet(solver=lbfgs(iterations=100,tolerance=1e-5),transform={t})" for t in TRANSFORMS)
    assert (known.text(metrics[0], first), known.text(metrics[0], second)) == ("0.4919", "0.5049")
    differing = published((fold,), read_metrics(["ndcg@5"], "letor3"))
    assert differing is not None
    assert differing.caveat == "; they follow podium's own conventions, these means do not: compare without --preset."


def test_every_published_method_can_be_trained() -> None:
    known = published(OHSUMED, read_metrics(["ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10"], "letor3"))
    assert known is not None
    for name in {name for _, name in known.figures}:
        method(name)
    assert all(0.4 <= float(value) <= 0.55 for values in known.figures.values() for value in values)
