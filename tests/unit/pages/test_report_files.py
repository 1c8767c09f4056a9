"""The report: its numbers are those of results.json, and nothing in it can break out of the page."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from podium.comparison import compare
from podium.data import Dataset, Fold, make_letor_like, split
from podium.evaluation.compare import Comparison, Outcome
from podium.evaluation.compare_runs import compare_runs
from podium.evaluation.details import History
from podium.evaluation.evaluate import evaluate
from podium.evaluation.report_texts import emphasis, leaders
from podium.evaluation.significance import compare_systems
from podium.metrics import Metric
from podium.pages.report import embedded, page, write_report
from podium.solvers import Step
from podium.training import train

METHODS = ["random", "listnet", "lambdamart(num_leaves=4,rounds=15)", "single-feature"]
METRICS = ["ndcg@5", "map"]


def folds(n: int = 2) -> list[Fold]:
    made = [split(make_letor_like(30, (6, 10), n_features=5, seed=k)[0]) for k in range(n)]
    return [Fold(*parts, name=f"Fold{k + 1}") for k, parts in enumerate(made)]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Comparison, Path]:
    folder = tmp_path_factory.mktemp("comparison")
    return compare(folds(), METHODS, METRICS, output=folder), folder


def shown_data(text: str) -> Any:
    """The data of a page, as its script reads them."""
    [found] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    return json.loads(found)


def outcome(method: str, fold: str, values: list[float]) -> Outcome:
    ids = tuple(f"q{k}" for k in range(len(values)))
    return Outcome(method, fold, method, {}, 1.0, ids, np.array([values]), None)


def small(*outcomes: Outcome) -> Comparison:
    return Comparison((Metric.parse("ndcg@10"),), 0, outcomes)


def test_the_numbers_of_the_page_are_those_of_the_results(made: tuple[Comparison, Path]) -> None:
    found, folder = made
    data = shown_data((folder / "report.html").read_text())
    assert data["results"] == json.loads((folder / "results.json").read_text())
    assert data["ranking"] == found.ranking()
    for m, metric in enumerate(METRICS):
        for name in METHODS:
            values = np.array(data["values"][metric][name], float)
            np.testing.assert_array_equal(values, np.hstack([o.values[m] for o in found.by_method[name]]))
            assert len(data["queries"]) == len(values)


def test_intervals_and_letters_are_those_of_the_tests_over_all_queries(made: tuple[Comparison, Path]) -> None:
    found, folder = made
    results = json.loads((folder / "results.json").read_text())
    for m, metric in enumerate(METRICS):
        values = [np.hstack([o.values[m] for o in found.by_method[name]]) for name in METHODS]
        assert results["significance"][metric] == compare_systems(values, METHODS).to_dict()


def test_curves_are_ndcg_precision_and_map_at_each_cutoff(made: tuple[Comparison, Path]) -> None:
    found, _ = made
    for fold, one in zip(folds(), found.by_method["listnet"], strict=True):
        assert fold.test is not None
        assert one.model is not None
        assert list(one.details["curves"]) == ["NDCG", "P", "MAP"]
        for name, curve in one.details["curves"].items():
            for k in (1, 5, 20):
                [average] = evaluate(fold.test, one.model.score(fold.test), f"{name}@{k}").means().values()
                assert curve["values"][k - 1] == pytest.approx(average.value, abs=1e-12)
        assert one.details["curves"]["NDCG"]["values"][4] == pytest.approx(np.nanmean(one.values[0]), abs=1e-12)


def test_curves_are_by_the_convention_of_the_comparison(tmp_path: Path) -> None:
    metrics = ["ndcg@5[sklearn]", "p@3[relevant=2]"]
    [one] = compare(folds(1), ["single-feature"], metrics, output=tmp_path).by_method["single-feature"]
    tags = {name: curve["metric"] for name, curve in one.details["curves"].items()}
    assert tags["NDCG"] == Metric.parse("ndcg[sklearn]").tag()
    assert tags["P"] == Metric.parse("p[relevant=2]").tag()
    assert tags["MAP"] == Metric.parse("map[sklearn]").tag()


def test_the_learning_curve_is_that_of_the_fit_that_validation_chose(made: tuple[Comparison, Path]) -> None:
    found, _ = made
    [fold] = folds(1)
    for name in METHODS[1:3]:
        one = found.by_method[name][0]
        steps: list[Step] = []
        assert one.model is not None
        train(fold.train, one.model.learner, valid=fold.valid, metric="ndcg@10", observers=(steps.append,))
        expected = [[step.iteration, step.value, step.valid] for step in steps]
        history = one.details["history"]
        assert history[0] == expected[0]
        assert history[-1] == expected[-1]
        assert all(step in expected for step in history)
    assert found.by_method["random"][0].details["history"] == []


def test_a_long_history_is_thinned_and_one_that_cannot_be_told_is_left_out() -> None:
    history = History()
    for iteration in range(1, 1001):
        history.record(Step(iteration, 1000, float("inf") if iteration == 1 else 1.0 / iteration, None))
    kept = history.chosen_fit_history({})
    assert (len(kept), kept[0], kept[-1]) == (100, [1, None, None], [1000, 1.0 / 1000, None])
    assert history.chosen_fit_history({"trials": [{"valid": 0.1}, {"valid": 0.2}], "chosen": 1}) == []


def test_the_history_is_that_of_the_chosen_trial() -> None:
    history = History()
    for fit in range(3):
        for iteration in (1, 2):
            history.record(Step(iteration, 2, 10.0 * fit, 0.5))
    kept = history.chosen_fit_history({"trials": [{}, {}, {}], "chosen": 1})
    assert kept == [[1, 10.0, 0.5], [2, 10.0, 0.5]]


def test_a_page_made_from_the_folder_is_the_same(made: tuple[Comparison, Path], tmp_path: Path) -> None:
    _, folder = made
    before = (folder / "report.html").read_bytes()
    again = compare(folds(), METHODS, METRICS, output=folder)
    assert all(one.model is None for one in again.outcomes)
    assert (folder / "report.html").read_bytes() == before


def test_runs_kept_without_details_can_still_be_reported(tmp_path: Path) -> None:
    compare(folds(1), ["random"], ["ndcg@5"], output=tmp_path)
    [run] = (tmp_path / "runs").iterdir()
    kept = json.loads(run.read_text())
    del kept["details"], kept["sum"]
    run.write_text(json.dumps(kept | {"sum": hashlib.sha256(json.dumps(kept).encode()).hexdigest()}))
    again = compare(folds(1), ["random"], ["ndcg@5"], output=tmp_path)
    assert again.outcomes[0].model is None
    assert shown_data((tmp_path / "report.html").read_text())["details"] == {"random": [{}]}


NASTY = ['</script><script>alert("out")</script>', "<!--", "]]>", "&lt;", "\u2028", "'\"\\"]


def test_no_text_of_the_data_can_break_out_of_the_page() -> None:
    ids = tuple(NASTY)
    values = np.array([np.linspace(0, 1, len(ids))])
    found = small(Outcome("</title><b>", "<fold>", "<learner>", {"stopped": "<i>"}, 1.0, ids, values, None))
    text = page(found)
    own = page(small(outcome("a", "1", [0.0, 1.0])))
    for tag in ("<script", "</script", "<!--", "<b>", "<i>", "<fold>", "</title"):
        assert text.count(tag) == own.count(tag)
    assert [query for _, query in shown_data(text)["queries"]] == NASTY
    assert json.loads(embedded(NASTY)) == NASTY


def test_the_page_asks_the_network_for_nothing(made: tuple[Comparison, Path]) -> None:
    text = (made[1] / "report.html").read_text()
    addresses = set(re.findall(r"https?://[^\s\"']+", text))
    assert addresses == {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert "default-src 'none'" in text
    assert not re.search(r"<(img|iframe|object)|@import|url\(", text)


def test_runs_have_a_report_without_the_parts_on_training(tmp_path: Path) -> None:
    qrels = {f"q{k}": {"a": 1, "b": 0} for k in range(30)}
    runs = {
        name: {q: {"a": 1.0, "b": 2.0 * (k % n == 0)} for k, q in enumerate(qrels)}
        for name, n in {"</b>": 2, "good": 5}.items()
    }
    found = compare_runs(qrels, runs, ["mrr", "map"], baseline="</b>", by={q: q[-1] for q in qrels})
    write_report(found, tmp_path)
    text = (tmp_path / "report.html").read_text()
    data = shown_data(text)
    assert (data["trained"], data["baseline"]) == (False, "</b>")
    assert data["verdicts"]["mrr"].startswith("by mrr: good is significantly better than </b> (+0.1500, p ")
    assert data["results"] == json.loads((tmp_path / "results.json").read_text())
    assert len(data["results"]["segments"]["map"]["segments"]) == 2 * 10
    assert "</b>" not in text
    assert "<title>Comparison of runs</title>" in text
    assert not (tmp_path / "provenance.json").exists()


@pytest.mark.parametrize("values", [[], [0.5], [float("nan")] * 3, [0.5] * 4])
def test_few_queries_or_none_that_count_make_a_page_too(tmp_path: Path, values: list[float]) -> None:
    found = small(outcome("a", "1", values), outcome("b", "1", values))
    write_report(found, tmp_path)
    tested = shown_data((tmp_path / "report.html").read_text())["results"]["significance"]["ndcg@10"]
    assert (tested is None) == (np.isfinite(values).sum() < 2)
    if tested is not None:
        assert tested["letters"] == {"a": "a", "b": "a"}
    assert "| a |" in (tmp_path / "table.md").read_text()


def test_a_fit_without_a_finite_objective_makes_valid_json(tmp_path: Path) -> None:
    info = {"objective": float("inf"), "trials": [{"valid": 0.5, "learning_rate": 0.1}], "chosen": 0}
    odd = replace(outcome("a", "1", [0.1, 0.2]), info=info, details={"history": [[1, float("nan"), None]]})
    write_report(small(odd), tmp_path)
    for name in ("results.json", "report.html"):
        assert not re.search(r"\b(Infinity|NaN)\b[,\]}\n]", (tmp_path / name).read_text())
    data = shown_data((tmp_path / "report.html").read_text())
    assert data["results"]["methods"]["a"]["folds"][0]["runs"][0]["info"]["objective"] is None
    assert data["details"]["a"][0]["history"] == [[1, None, None]]


def test_methods_that_answered_different_queries_are_not_tested() -> None:
    found = small(outcome("a", "1", [0.1, 0.2]), outcome("a", "2", [0.1, 0.2]), outcome("b", "1", [0.1, 0.2]))
    assert found.significance == {"ndcg@10": None}


def test_the_tables_have_letters_and_escape_what_their_language_would_read(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    base = rng.uniform(0, 0.5, 60)
    found = small(outcome("a_b|{1}", "1", [*base]), outcome("good", "1", [*(base + 0.3 + 0.01 * rng.normal(size=60))]))
    write_report(found, tmp_path)
    tex = (tmp_path / "table.tex").read_text()
    assert f"a\\_b|\\{{1\\}} & {base.mean():.4f}\\textsuperscript{{b}} \\\\" in tex
    assert f"good & \\textbf{{{found.mean('good')[0]:.4f}}}\\textsuperscript{{a}} \\\\" in tex
    low, high = found.significance["ndcg@10"].systems["good"].interval  # type: ignore[union-attr]
    assert f"| good | {found.mean('good')[0]:.4f} | {low:.4f} | {high:.4f} | a |" in (tmp_path / "table.md").read_text()
    assert "a_b\\|{1}" in (tmp_path / "table.md").read_text()


def test_the_best_cell_is_the_largest_number_whatever_it_looks_like_as_text(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    noise = 0.01 * rng.normal(size=(3, 60))
    made = {"small": 9.1 + noise[1], "large": 10.2 + noise[0]}
    found = small(*(outcome(name, "1", [*values]) for name, values in made.items()))
    assert emphasis(found) == {(0, 1): "bold"}
    write_report(found, tmp_path)
    assert "large & \\textbf{10.2" in (tmp_path / "table.tex").read_text()
    below = small(outcome("worse", "1", [*(-0.5 + noise[0])]), outcome("better", "1", [*(-0.1 + noise[1])]))
    assert (below.best(below.metrics[0]), emphasis(below)) == ("better", {(0, 1): "bold"})
    dash = small(outcome("none", "1", [float("nan")] * 60), outcome("some", "1", [*noise[0]]))
    assert (dash.best(dash.metrics[0]), dash.ties_with_best(dash.metrics[0])) == ("some", [])
    nothing = small(outcome("none", "1", [float("nan")]))
    assert (nothing.best(nothing.metrics[0]), emphasis(nothing)) == (None, {})


def test_the_best_is_italic_and_named_with_those_that_tie_where_letters_are_shared(tmp_path: Path) -> None:
    base = np.random.default_rng(0).uniform(0, 1, 60)
    found = small(outcome("a", "1", [*base]), outcome("b", "1", [*(base + 1e-9 * np.sign(base - 0.5))]))
    best = found.best(found.metrics[0])
    assert emphasis(found) == {(0, 1): "italic"}
    [other] = found.ties_with_best(found.metrics[0])
    assert leaders(found) == f"best by ndcg@10: {best}, but not significantly better than {other} (Holm, α = 0.05)"
    write_report(found, tmp_path)
    assert f"{best} & \\textit{{" in (tmp_path / "table.tex").read_text()


def test_metrics_without_bounds_and_those_of_which_less_is_better_are_reported(tmp_path: Path) -> None:
    metrics = tuple(map(Metric.parse, ("unjudged@5", "num_rel_ret", "gm_map", "dcg")))
    rng, made = np.random.default_rng(0), []
    for name, share, hits in (("poor", 0.8, 2), ("good", 0.1, 90)):
        for fold in ("1", "2"):
            aps = rng.uniform(0.2, 0.9, 40)
            values = np.array([share + 0.01 * aps, np.full(40, hits), np.log(aps), 100 * aps])
            ids = tuple(f"{fold}-{q}" for q in range(40))
            made.append(Outcome(name, fold, "listnet", {}, 1.0, ids, values, None))
    found = Comparison(metrics, 0, tuple(made))
    assert found.ranking() == ["good", "poor"]
    assert [found.best(metric) for metric in metrics[:2]] == ["good", "good"]
    assert found.mean("good")[1] == 40 * 90  # the mean over folds of each fold's total
    assert found.pooled("good")[1].value == 80 * 90
    values = np.hstack([one.values[2] for one in made if one.method == "good"])
    assert found.pooled("good")[2].value == pytest.approx(np.exp(values.mean()))
    tested = found.significance["gm-map"]
    assert tested is not None
    assert 0.2 < tested.systems["good"].interval.low < tested.systems["good"].mean < 0.9
    assert list(found.significance["unjudged@5"].systems) == ["good", "poor"]  # type: ignore[union-attr]
    write_report(found, tmp_path)
    assert json.loads((tmp_path / "results.json").read_text())["methods"]["good"]["pooled"]["num-rel-ret"] == 7200.0


def test_no_id_breaks_a_line_or_runs_in_a_spreadsheet(tmp_path: Path) -> None:
    ids = ("a\tb", "c\nd\r", "=1+1", "-5", "'x", "\\t", "\udce9")
    values = np.array([np.linspace(0, 1, len(ids))])
    write_report(small(Outcome("=m", "<b>\n|[x](y)", "m", {}, 1.0, ids, values, None)), tmp_path)
    rows = [line.split("\t") for line in (tmp_path / "per_query.tsv").read_text().split("\n")]
    assert [row[2] for row in rows[1:-1]] == [r"a\tb", r"c\nd\r", "'=1+1", "-5", "''x", r"\\t", r"\udce9"]
    assert {row[0] for row in rows[1:-1]} == {"'=m"}
    table = (tmp_path / "table.md").read_text()
    assert r"| method | &lt;b&gt; \|[x]\(y) |" in table
    assert "<" not in table
    for name in ("results.json", "provenance.json"):
        json.loads((tmp_path / name).read_text())


def test_the_data_are_described(made: tuple[Comparison, Path]) -> None:
    found, _ = made
    first = folds(1)[0]
    part = found.data[0]["parts"]["train"]
    assert (part["queries"], part["documents"]) == (first.train.n_queries, first.train.n_documents)
    assert first.train.labels is not None
    assert part["grades"]["0"] == (first.train.labels == 0).sum()
    assert sum(part["grades"].values()) == first.train.n_documents


def test_odd_data_do_not_stop_the_details(tmp_path: Path) -> None:
    [fold] = folds(1)

    def odd(data: Dataset | None) -> Dataset:
        assert data is not None
        X = np.array(data.features)
        X[::3, 1] = np.nan
        X[:, 2] = 7.0
        return replace(data, features=X, document_ids=None)

    parts = Fold(*map(odd, (fold.train, fold.valid, fold.test)), name="odd")
    found = compare(
        [parts], ["listnet", "lambdamart(num_leaves=4,rounds=5)", "mcrank(rounds=3)"], METRICS, output=tmp_path
    )
    data = shown_data((tmp_path / "report.html").read_text())
    assert [len(data["details"][name][0]["pairs"]) for name in found.by_method] == [2, 2, 0]
    assert "when the feature is shuffled" in data["details"]["mcrank(rounds=3)"][0]["importance"]["how"]
