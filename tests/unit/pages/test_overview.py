"""Several datasets side by side."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from podium.evaluation.compare import Comparison, Outcome
from podium.metrics import Metric
from podium.pages.overview import overview, write_overview


def comparison(metric: str = "map", **means: float) -> Comparison:
    outcomes = (Outcome(name, "1", name, {}, 1.0, ("q",), np.array([[value]]), None) for name, value in means.items())
    return Comparison((Metric.parse(metric),), 0, tuple(outcomes))


def test_methods_are_ordered_by_their_mean_rank_and_equals_share_one() -> None:
    found = {"x": comparison(a=0.9, b=0.5, c=0.5), "y": comparison(a=0.1, b=0.4, c=0.2)}
    assert overview(found, "map") == (
        ["method", "x", "y", "mean rank"],
        [
            ["b", "0.5000", "0.4000", f"{(2.5 + 1) / 2:.2f}"],
            ["a", "0.9000", "0.1000", f"{(1 + 3) / 2:.2f}"],
            ["c", "0.5000", "0.2000", f"{(2.5 + 2) / 2:.2f}"],
        ],
    )


def test_where_less_is_better_the_lowest_mean_ranks_first() -> None:
    found = {name: comparison("unjudged@5", a=0.9, b=0.1) for name in ("x", "y")}
    assert [[row[0], row[-1]] for row in overview(found, "unjudged@5")[1]] == [["b", "1.00"], ["a", "2.00"]]


def test_a_method_that_did_not_finish_everywhere_is_left_out() -> None:
    found = {"x": comparison(a=0.9, b=0.5), "y": comparison(b=0.4)}
    assert [row[0] for row in overview(found, "map")[1]] == ["b"]


def test_names_cannot_break_out_of_the_page(tmp_path: Path) -> None:
    write_overview({"<x>": comparison(a=0.9), '"y"': comparison(a=0.4)}, tmp_path)
    text = (tmp_path / "report.html").read_text()
    assert '<a href="%3Cx%3E/report.html">&lt;x&gt;</a>' in text
    assert '<a href="%22y%22/report.html">' in text
    assert "<x>" not in text
