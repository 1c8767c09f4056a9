"""Figures of papers beside one's own."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from podium.evaluation.compare import Comparison, Outcome
from podium.evaluation.evaluate import read_metrics
from podium.evaluation.published import published
from podium.evaluation.report_texts import beside_published
from podium.methods import METHODS
from podium.metrics import Metric
from podium.pages.report import page_data

OHSUMED = ({"fold": "all", "features": 45, "parts": {"test": {"queries": 106, "documents": 16140}}},)
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


def test_every_published_method_is_in_the_table() -> None:
    known = published(OHSUMED, read_metrics(["ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10"], "letor3"))
    assert known is not None
    assert {method for _, method in known.figures} <= set(METHODS)
    assert all(0.4 <= float(value) <= 0.55 for values in known.figures.values() for value in values)
