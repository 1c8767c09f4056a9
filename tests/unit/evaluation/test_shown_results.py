"""Results of podium print a few lines, show tables in notebooks, and become data frames and LaTeX."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import podium
from podium.clicks import ClickLog, Propensities, simulate
from podium.counterfactual import value
from podium.evaluation.compare import Comparison, Outcome
from podium.evaluation.compare_clicks import compare_click_models
from podium.evaluation.metric_names import paper_names
from podium.evaluation.significance import compare_systems
from podium.export import export
from podium.metrics import Metric

NASTY = '<img src=x onerror="alert(1)">'


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    data, _ = podium.make_letor_like(24, (6, 9), n_features=4, seed=1)
    train, valid, test = podium.split(data)
    model = podium.train(train, "listnet", valid=valid)
    odds = model.distribution(test)
    names = test.document_name(0), test.document_name(1)
    scores = model.score(test)
    log = simulate(data, pages=100, depth=5, seed=0)
    pages = ClickLog.from_pages([("q", ["a", "b"], [1]), ("q", ["a", "b"], [2]), ("q", ["a", "b"], [])])
    theta = Propensities.of_theta([1.0, 0.5], how="given")
    file = tmp_path_factory.mktemp("export") / "model.py"
    comparison = podium.compare(data, ["listnet", "random"], ["ndcg@10", "map"])
    return {
        "evaluation": podium.evaluate(test, scores, ["ndcg@10", "map"]),
        "comparison": comparison,
        "tests": comparison.significance["map"],
        "odds": odds,
        "odds of a query": odds[0],
        "explanation": podium.explain(model, test, query=test.query_name(0), documents=names),
        "calibration": podium.calibration(odds, test),
        "reconciliation": podium.reconcile(test, scores, "ndcg@10[lightgbm]", "ndcg@10[trec]"),
        "click model": podium.clicks.fit(log, "pbm"),
        "click models": compare_click_models(log, ["rctr", "dctr"], folds=2),
        "proof": export(model, "python", file, data=test),
        "consensus": podium.aggregate([["A", "B", "C"], ["A", "C", "B"]], "borda"),
        "values": value(pages, {"new": {"q": {"b": 2.0, "a": 1.0}}}, propensities=theta, how="ips", discount="dcg"),
    }


def test_every_result_is_short_in_a_console_and_complete_elsewhere(results: dict[str, Any]) -> None:
    for name, result in results.items():
        assert len(repr(result).splitlines()) <= 15, name
        assert len(repr(result)) < 2000, name
        assert result._repr_html_().count("<table") == 1, name
        assert len(result.to_frame()) >= 1, name
        assert "\\toprule" in result.to_latex(caption="A result", label="tab:a"), name


def test_models_and_datasets_show_what_they_are() -> None:
    data, _ = podium.make_letor_like(5, n_features=4, seed=1)
    assert "24 features" not in data._repr_html_()
    assert ">5</td>" in data._repr_html_()
    assert "regression" in podium.train(data, "regression")._repr_html_()


def test_the_frames_have_the_numbers_in_full(results: dict[str, Any]) -> None:
    evaluation, comparison = results["evaluation"], results["comparison"]
    frame = evaluation.to_frame(per_query=True)
    assert frame["query"].tolist() == list(evaluation.query_ids)
    assert frame["map"].tolist() == evaluation.values[1].tolist()
    assert evaluation.to_frame()["mean"].tolist() == [average.value for average in evaluation.means().values()]
    means = comparison.to_frame().set_index("method")
    assert means.loc["random"].tolist() == comparison.mean("random").tolist()
    rows = comparison.to_frame(per_query=True)
    listnet = rows[rows["method"] == "listnet"]
    assert listnet["ndcg@10"].tolist() == comparison.by_method["listnet"][0].values[0].tolist()
    odds = results["odds"]
    assert odds.to_frame()["P(first)"].tolist() == odds.summary().first.tolist()
    shares = results["explanation"].to_frame()["share"]
    assert shares.sum() + results["explanation"].rest == pytest.approx(results["explanation"].difference)


def test_a_document_with_the_name_of_a_column_loses_none(results: dict[str, Any]) -> None:
    named = replace(results["explanation"], documents=("share", "feature"))
    assert named.to_frame().columns.tolist() == ["feature", "upper", "lower", "share"]
    assert named.to_frame().equals(results["explanation"].to_frame())


def test_an_evaluation_has_intervals_of_its_means() -> None:
    labels, scores = [1, 0] * 200, [1.0, 2.0, 2.0, 1.0] * 100
    evaluation = podium.evaluate(labels, scores, "mrr", group=[2] * 200)
    interval = evaluation.intervals()["mrr"]
    assert interval.low < evaluation.means()["mrr"].value < interval.high
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * np.std([0.5, 1] * 100, ddof=1) / 200**0.5, rel=0.1)
    one = podium.evaluate([1, 0], [1.0, 2.0], "mrr", group=[2])
    assert np.isnan(one.intervals()["mrr"]).all()


def test_names_from_files_are_text_in_every_view() -> None:
    values = np.array([[0.1, 0.2, 0.4], [0.3, 0.5, 0.4]])
    outcomes = [
        Outcome(name, "Fold1", "", {}, 0.0, ("1", "2", "3"), row[None], None)
        for name, row in zip((NASTY, "b\x1b[2J"), values, strict=True)
    ]
    comparison = Comparison((Metric.parse("ndcg@10"),), 0, tuple(outcomes), dataset=NASTY)
    assert "<img" not in comparison._repr_html_()
    assert "&lt;img" in comparison._repr_html_()
    assert "\x1b" not in repr(comparison)
    assert r"b\textbackslash{}x1b[2J" in comparison.to_latex()


def test_the_verdict_against_a_baseline_says_better_and_worse_by_the_metric() -> None:
    rng = np.random.default_rng(0)
    base = rng.uniform(0.3, 0.6, 60)
    values = [
        base,
        base + 0.1 + rng.normal(0, 0.01, 60),
        base - 0.1 + rng.normal(0, 0.01, 60),
        base + rng.normal(0, 0.01, 60),
    ]
    names = ["base", "up", "down", "same"]
    words = compare_systems(values, names, baseline="base").verdict()
    assert "up is significantly better than base (+0.1" in words
    assert "down is significantly worse than base (-0.1" in words
    assert "same does not differ significantly from base" in words
    less = compare_systems(values, names, metric=Metric.parse("unjudged@10"), baseline="base").verdict("run")
    assert less.startswith("by unjudged@10: down is significantly better than base (-0.1")


def test_metrics_are_named_as_papers_do_with_the_convention_only_if_needed() -> None:
    def named(*names: str) -> list[str]:
        return paper_names([Metric.parse(name) for name in names])

    assert named("ndcg@10[letor3]", "map", "p@5", "recall@100", "mrr") == ["NDCG@10", "MAP", "P@5", "Recall@100", "MRR"]
    assert named("ndcg@10[letor3]", "ndcg@10") == ["NDCG@10[letor3]", "NDCG@10"]
    assert named("r_precision", "gm_map", "rbp(p=0.95)") == ["R-Prec", "GMAP", "RBP(p=0.95)"]
