"""The benchmarks: contestants take turns, absent peers say so, and the page has every row."""

import importlib
import json
import re
import tomllib
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from benchmarks import page
from benchmarks.__main__ import NAMES
from benchmarks.contest import Contest, run
from benchmarks.quality import METHODS, SHAPES, Outcome, leads, words
from benchmarks.shapes import Shape, parts
from benchmarks.speed_summary import goals, head
from benchmarks.units import shown
from scipy import stats

import podium

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _no_collections(monkeypatch):
    """Nothing is timed here, and collecting the garbage of all tests before each time takes long."""
    monkeypatch.setattr("benchmarks.contest.gc.collect", lambda: 0)


def taking(seconds, log=None, name=""):
    def work():
        if log is not None:
            log.append(name)
        return {"cpu": seconds, "wall": 2 * seconds}

    return work


def test_contestants_take_turns_and_the_best_peer_is_the_fastest():
    log = []
    peers = {"slow": taking(0.9, log, "slow"), "fast": taking(0.3, log, "fast"), "gone": "not installed"}
    row = run(Contest("work", taking(0.1, log, "ours"), peers, least_ratio=2.0, repeats=2), quick=False)
    assert log == ["ours", "slow", "fast"] * 3  # once to warm up
    assert (row.best_peer, row.ratio, row.met) == ("fast", pytest.approx(3.0), True)
    assert row.absent == {"gone": "not installed"}


def test_a_goal_can_be_a_time_and_a_clock_the_wall():
    row = run(Contest("work", taking(0.1), {}, most_seconds=0.15, clock="wall", repeats=1), quick=False)
    assert (row.seconds["podium"]["median"], row.ratio, row.met) == (pytest.approx(0.2), None, False)


def test_the_page_keeps_what_was_not_run_again(tmp_path):
    for name, seconds in (("reading", 0.1), ("trec", 0.2), ("reading", 0.4)):
        page.write({name: [run(Contest(f"{name} work", taking(seconds), {}), quick=True)]}, tmp_path, quick=True)
    found = json.loads((tmp_path / "speed.json").read_text())["benchmarks"]
    assert found["reading"]["rows"][0]["seconds"]["podium"]["median"] == 0.4
    text = (tmp_path / "speed.md").read_text()
    assert "reading work | 400 ms" in text
    assert "| 100 ms (100–100) |\n" in text  # the run before
    assert "trec work | 200 ms" in text


def test_a_goal_that_is_not_about_time_is_judged_at_the_end():
    done = []
    row = run(Contest("work", lambda: done.append(1), {}, judged=lambda: bool(done), repeats=1), quick=False)
    assert row.met is True


def outcomes(ours, booster):
    return {label: Outcome(list(ours), [1]) for label in METHODS.values()} | {"LightGBM": Outcome(list(booster), [1])}


def test_leads_are_intervals_over_seeds_by_shape_and_pooled():
    behind, ahead = outcomes([0.50, 0.51, 0.52], [0.60, 0.61, 0.63]), outcomes([0.9, 0.8, 0.7], [0.1, 0.3, 0.2])
    assert [(lead.booster, lead.high < 0) for lead in leads([behind])] == [("LightGBM", True)] * 2
    lead, _ = leads([behind, ahead])
    assert lead.mean == pytest.approx(((-0.1 - 0.1 - 0.11) + (0.8 + 0.5 + 0.5)) / 6)
    assert lead.low < 0 < lead.high
    assert "BEHIND" in words([behind])


def test_pooled_words_count_leads_by_shape_before_and_after_holms_correction():
    base = np.array([0.50, 0.51, 0.52, 0.53, 0.54])
    spread = np.array([-0.01, -0.005, 0.0, 0.005, 0.01])  # standard error .0035355
    sure, doubtful = outcomes(base + 0.05 + spread, base), outcomes(base - 0.011 + spread, base)
    text, p = words([sure, doubtful]), 2 * stats.t.sf(0.011 / 0.0035355, 4)
    assert 0.025 < p < 0.05  # alone; of four, the two smaller ones before it
    first, second = list(SHAPES)[:2]
    assert f"2 of 4 are ahead, 2 after Holm's correction (auto − LightGBM on {first}: p < 0.001" in text
    assert f"2 behind, 0 after it (auto − LightGBM on {second}: p = {2 * p:.3f}" in text
    assert "of pooled leads 0 of 2 are ahead, 0 after Holm's correction (none)" in text


def test_parts_of_a_shape_share_a_truth_and_no_query():
    shape = Shape(30, (5, 8), 6, noise=0.1, missing=0.2, levels=2.0)
    train, valid, test = parts(shape, 1, tested=25)
    assert (train.n_queries, valid.n_queries, test.n_queries) == (30, 20, 25)
    assert 0.1 < np.isnan(train.features).mean() < 0.3
    assert not np.array_equal(train.features[:20], test.features[:20], equal_nan=True)
    again = parts(shape, 1, tested=25)[0]
    np.testing.assert_array_equal(again.features, train.features)


def test_a_linear_truth_is_learned_by_a_linear_method_on_other_queries_of_its_seed_alone():
    shape = Shape(60, (8, 12), 6, useful=1.0, noise=0.1)
    (train, _, test), (_, _, other) = parts(shape, 1, tested=60), parts(shape, 2, tested=60)
    model = podium.train(train, "regression")
    own, another = (
        podium.evaluate(data, model.score(data), "ndcg@10").means()["ndcg@10"].value for data in (test, other)
    )
    assert own > 0.95 > another


@pytest.mark.parametrize("name", NAMES)
def test_every_benchmark_is_there(name):
    assert callable(importlib.import_module(f"benchmarks.{name}").contests)


def test_every_method_has_a_cost_that_is_promised():
    from benchmarks.cost import families
    from benchmarks.cost_page import PROMISED

    assert {name for names in families(None).values() for name in names} == set(PROMISED)


def test_the_page_of_costs_is_written_from_its_figures():
    from benchmarks import cost_page

    folder = ROOT / "docs" / "benchmarks"
    assert (folder / "cost.md").read_text() == cost_page.text(json.loads((folder / "cost.json").read_text()))


def test_the_page_of_speed_is_written_from_its_figures():
    folder = ROOT / "docs" / "benchmarks"
    assert (folder / "speed.md").read_text() == page.text(json.loads((folder / "speed.json").read_text()))


def test_the_page_of_speed_begins_with_where_another_tool_is_faster_and_names_missed_goals():
    first = run(Contest("first training of a", taking(6.0), {}, goal="≤ 5 s", most_seconds=5.0), quick=True)
    second = run(Contest("first training of b", taking(7.0), {}, goal="≤ 5 s", most_seconds=5.0), quick=True)
    peers = {"prototype": taking(0.05), "Rax": taking(0.15), "ranx": taking(0.4)}
    third = run(Contest("work", taking(0.2), peers, goal="≤ 1 s", most_seconds=1.0), quick=True)
    part = {"at": "2026-11-17 06:23", "rows": [asdict(row) for row in (first, second, third)]}
    text = head({"first_use": part})
    assert "faster than the fastest other tool in 0 of 1 rows that have one, and slower in 1." in text
    assert "| [first use](#first-use) | Rax, ranx | 0.75 | 1 of 1 |" in text
    assert "| work | 200 ms | 150 ms | Rax | 0.75 × |" in text
    missed = goals({"first_use": part})
    assert "1 of 3 are met; 2 of the missed ones are of first use." in missed
    assert "- **first training of …, 2 rows**: 6 s to 7 s. Goal: ≤ 5 s. 32 functions" in missed


def test_links_of_the_first_table_of_speed_go_to_the_sections():
    page_text = (ROOT / "docs" / "benchmarks" / "speed.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## (.*)$", page_text, re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
    links = re.findall(r"\]\(#(.*?)\)", page_text)
    assert links
    assert set(links) <= anchors


def test_the_summary_of_costs_has_the_fastest_and_what_was_too_slow_to_run():
    from benchmarks.cost_page import extremes

    rows = [{"name": name, "seconds": seconds} for name, seconds in (("a", [1.0, 2.0, 4e-3]), ("b", [1.0] * 5))]
    assert extremes(rows, 100, 1.0) == ("`a` 4 ms", "`b` 1 s")
    assert extremes(rows, 1_000, 1.0) == ("`b` 1 s", "`a`: not run, expected over 1 s")


def test_times_have_three_digits_and_the_unit_that_fits():
    assert [shown(t) for t in (1.29e-7, 7.449e-6, 9.9951e-4, 0.02, 0.9999, 1.27, 1234.5)] == [
        "0.129 µs", "7.45 µs", "1 ms", "20 ms", "1 s", "1.27 s", "1,234 s",
    ]  # fmt: skip


def test_the_readme_has_the_figures_of_the_table_of_ohsumed():
    heads, rows = markdown_rows("docs/benchmarks/ohsumed/table.md", "| method |")
    table = {row[0]: dict(zip(heads, row, strict=True)) for row in rows}
    methods, shown = markdown_rows("README.md", "| | lambdarank |")
    for metric, *figures in shown:
        if metric in ("NDCG@10", "MAP"):
            said = dict(zip(methods[1:], figures, strict=True))
            assert said == {method: f"{float(table[method][metric.lower()]):.3f}"[1:] for method in said}


def test_the_readme_has_the_figures_that_papers_print():
    papers = tomllib.loads((ROOT / "src/podium/evaluation/published.toml").read_text(encoding="utf-8"))["benchmark"]
    [ohsumed] = [benchmark for benchmark in papers if benchmark["name"].startswith("OHSUMED")]
    printed = [
        (method, float(figures[tab["metrics"].index("ndcg@10")]))
        for tab in ohsumed["table"]
        for method, figures in tab["figures"].items()
        if "ndcg@10" in tab["metrics"]
    ]
    methods, shown = markdown_rows("README.md", "| | lambdarank |")
    [published] = [row[1:] for row in shown if row[0] == "published"]
    said = [(method, float(figure)) for method, figure in zip(methods[1:], published, strict=True) if figure]
    assert said
    assert [pair for pair in said if pair not in printed] == []


def markdown_rows(page: str, start: str) -> tuple[list[str], list[list[str]]]:
    """Heads and rows of the table of a page whose first line begins so."""
    lines = (ROOT / page).read_text(encoding="utf-8").split(start, 1)[1].split("\n\n")[0]
    cells = [
        [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip("|"))] for line in (start + lines).splitlines()
    ]
    return cells[0], cells[2:]
