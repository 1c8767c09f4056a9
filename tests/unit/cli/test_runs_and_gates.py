"""Runs compared with reports, results by segment, and gates, from the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Podium = Callable[..., Any]
DOCUMENTS = [f"d{k}" for k in range(8)]


@pytest.fixture
def runs(podium: Podium) -> None:
    """qrels.txt with 24 queries, three runs, and queries.jsonl with their types; `good.run` finds more."""
    rng = np.random.default_rng(0)
    grades = rng.integers(0, 3, (24, len(DOCUMENTS)))
    Path("qrels.txt").write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, row in enumerate(grades) for d, g in zip(DOCUMENTS, row, strict=True))
    )
    for name, noise in {"good": 0.7, "poor": 4.0, "other": 4.0}.items():
        scores = grades + rng.normal(0, noise, grades.shape)
        Path(f"{name}.run").write_text(
            "".join(
                f"{q} Q0 {DOCUMENTS[i]} {rank} {scores[q, i]:.6f} x\n"
                for q in range(24)
                for rank, i in enumerate(np.argsort(-scores[q]), 1)
            )
        )
    rows = [{"id": str(q), "text": f"words {q}", "type": "even" if q % 2 == 0 else "odd"} for q in range(24)]
    Path("queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    Path("queries.csv").write_text("\ufeffqid,type\r\n" + "".join(f"{row['id']},{row['type']}\r\n" for row in rows))


@pytest.mark.usefixtures("runs")
def test_runs_get_a_verdict_and_the_files_of_a_report(podium: Podium) -> None:
    result = podium(
        "compare", "qrels.txt", "poor.run", "good.run", "other.run", "-m", "ndcg@5[letor3],map", "-o", "out"
    )
    assert result.exit_code == 0, result.stderr
    assert "best by map: good.run, significantly better than every other run" in result.stderr
    assert sorted(path.name for path in Path("out").iterdir()) == [
        "per_query.tsv", "report.html", "results.json", "table.md", "table.tex",
    ]  # fmt: skip
    results = json.loads(Path("out/results.json").read_text())
    assert set(results["methods"]) == {"poor.run", "good.run", "other.run"}
    lines = Path("out/per_query.tsv").read_text().splitlines()
    assert lines[0].split("\t") == ["run", "query", "ndcg@5[letor3]", "map"]
    assert len(lines) == 1 + 3 * 24
    values = [float(line.split("\t")[3]) for line in lines if line.startswith("good.run")]
    assert results["methods"]["good.run"]["mean"]["map"] == pytest.approx(np.mean(values))
    table = Path("out/table.tex").read_text()
    assert "Run & NDCG@5 & MAP \\\\" in table
    assert "\\usepackage{booktabs}" in table
    assert f"good.run & \\textbf{{{results['methods']['good.run']['mean']['ndcg@5[letor3]']:.4f}}}" in table
    assert "chosen" not in Path("out/table.md").read_text()


@pytest.mark.usefixtures("runs")
def test_a_baseline_is_one_of_the_runs_or_a_run_more(podium: Podium) -> None:
    listed = podium(
        "compare", "qrels.txt", "poor.run", "good.run", "--baseline", "poor.run", "-m", "map", "--test", "t"
    )
    extra = podium("compare", "qrels.txt", "good.run", "--baseline", "poor.run", "-m", "map", "--test", "t")
    assert listed.stdout == extra.stdout
    assert listed.stdout.splitlines()[0].split() == ["run", "map", "from", "to", "difference", "p"]
    assert "by map: good.run is significantly better than poor.run (+" in listed.stderr
    assert "(paired t test, Holm, α = 0.05)" in listed.stderr
    corrected = podium(
        "compare", "qrels.txt", "good.run", "poor.run", "--correction", "bonferroni", "--json", "-m", "map"
    )
    assert json.loads(corrected.stdout)["map"]["correction"] == "bonferroni"
    for option, word in {"--test": "t", "--correction": "holm", "--baseline": "x"}.items():
        refused = podium("compare", "data", "--method", "listnet", option, word)
        assert (refused.exit_code, f"{option}: it is for runs" in refused.stderr) == (2, True)


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize("queries", ["queries.jsonl", "queries.csv"])
def test_segments_of_queries_have_a_row_each(podium: Podium, queries: str) -> None:
    result = podium("evaluate", "qrels.txt", "good.run", "-m", "map", "--by", "type", "--queries", queries)
    rows = [line.split() for line in result.stdout.splitlines()][-2:]
    per_query = podium("evaluate", "qrels.txt", "good.run", "-m", "map", "--json", "-q")
    values = json.loads(per_query.stdout)["per_query"]
    for row, first in zip(rows, (0, 1), strict=True):
        mean = np.mean([values[str(q)]["map"] for q in range(first, 24, 2)])
        assert row[:3] == ["even" if first == 0 else "odd", "12", f"{mean:.4f}"]
        assert float(row[3]) < mean < float(row[4])


@pytest.mark.usefixtures("runs")
def test_runs_are_compared_in_each_segment(podium: Podium) -> None:
    words = ("compare", "qrels.txt", "poor.run", "good.run", "-m", "map", "--by", "type", "--queries", "queries.jsonl")
    result = podium(*words, "-o", "out")
    assert result.exit_code == 0, result.stderr
    table = [line.split() for line in result.stdout.splitlines() if line.startswith(("even", "odd"))]
    assert [(row[0], row[2]) for row in table] == [(s, r) for s in ("even", "odd") for r in ("good.run", "poor.run")]
    assert "segments: differences from poor.run; p-values are corrected for all segments together" in result.stderr
    assert "map by segment: good.run is better in even" in Path("out/table.md").read_text()
    assert len(json.loads(Path("out/results.json").read_text())["segments"]["map"]["segments"]) == 4
    assert len(json.loads(podium(*words, "--json").stdout)["segments"]["map"]["segments"]) == 4


@pytest.mark.usefixtures("runs")
@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--by", "type"), "give a file of queries that has this column"),
        (("--by", "nope", "--queries", "queries.jsonl"), "no column 'nope'; there are: id, text, type."),
        (("--by", "text", "--queries", "queries.jsonl"), "each of 24 queries has a value of its own"),
        (("--at-least", "map"), "expected METRIC=NUMBER"),
        (("--margin", "0.1"), "--margin is for --not-worse-than"),
        (("--not-worse-than", "good.run"), "it is the run itself"),
        (("--not-worse-than", "-"), "--not-worse-than -: standard input is read once"),
        (("poor.run", "--at-least", "map=0.1"), "check one run; got 2"),
    ],
)
def test_options_that_do_not_fit_are_refused_in_words(podium: Podium, words: tuple[str, ...], line: str) -> None:
    result = podium("evaluate", "qrels.txt", "good.run", *words)
    assert result.exit_code != 0
    assert line in result.stderr


@pytest.mark.usefixtures("runs")
def test_a_gate_passes_or_fails_by_its_exit_code_with_the_reason(podium: Podium) -> None:
    passed = podium(
        "evaluate", "qrels.txt", "good.run", "-m", "map", "--at-least", "p@1=0.2", "--not-worse-than", "poor.run"
    )
    assert passed.exit_code == 0
    assert "gate passed: p@1 is " in passed.stderr
    low = podium("evaluate", "qrels.txt", "good.run", "-m", "map", "--at-least", "map=0.999,p@1=0.1")
    assert low.exit_code == 1
    assert "gate failed: map is 0." in low.stderr
    assert "p@1" not in low.stderr.split("gate failed")[1]
    worse = podium("evaluate", "qrels.txt", "poor.run", "-m", "map", "--not-worse-than", "good.run")
    assert worse.exit_code == 1
    assert "gate failed: map is significantly worse than good.run (-0." in worse.stderr
    unsure = ("evaluate", "qrels.txt", "other.run", "-m", "map", "--not-worse-than", "poor.run")
    assert podium(*unsure).exit_code == 0
    assert podium(*unsure, "--margin", "0.001").exit_code == 1
    as_json = podium(*unsure, "--json")
    assert json.loads(as_json.stdout)["gate"][0]["passed"] is True


@pytest.mark.usefixtures("runs")
def test_a_summary_is_appended_in_markdown_also_if_the_gate_fails(podium: Podium) -> None:
    Path("summary.md").write_text("# Before\n\n")
    result = podium(
        "evaluate", "qrels.txt", "good.run", "-m", "map", "--at-least", "map=0.9999", "--summary", "summary.md"
    )
    assert result.exit_code == 1
    text = Path("summary.md").read_text()
    assert text.startswith("# Before\n\n**good.run**\n\n| metric | mean |")
    assert "| **failed** | map is 0." in text


def test_a_column_of_a_labelled_table_is_a_segment(podium: Podium) -> None:
    rows = [f"{q},{q % 2},{'en' if q < 3 else 'fr'},{q}.5" for q in range(6) for _ in range(2)]
    Path("data.csv").write_text("qid,label,language,x\n" + "\n".join(rows) + "\n")
    for name, sign in {"a": 1, "b": -1}.items():
        Path(f"{name}.txt").write_text("".join(f"{sign * k}\n" for k in range(12)))
    result = podium("evaluate", "data.csv", "a.txt", "-m", "p@1", "--by", "language")
    assert result.exit_code == 0, result.stderr
    assert [line.split()[:2] for line in result.stdout.splitlines()[-2:]] == [["fr", "3"], ["en", "3"]] or [
        line.split()[:2] for line in result.stdout.splitlines()[-2:]
    ] == [["en", "3"], ["fr", "3"]]
    Path("data.csv").write_text("qid,label,language\n1,0,en\n1,1,fr\n2,1,en\n2,0,en\n")
    Path("a.txt").write_text("1\n2\n3\n4\n")
    apart = podium("evaluate", "data.csv", "a.txt", "--by", "language")
    assert apart.exit_code == 1
    assert "query 1: column 'language' has en and fr; a segment is a query's." in apart.stderr


def test_scores_of_the_same_data_are_compared_too(podium: Podium) -> None:
    Path("data.txt").write_text("".join(f"{k % 2} qid:{k // 2} 1:0\n" for k in range(40)))
    Path("up.txt").write_text("".join(f"{k % 2}\n" for k in range(40)))
    Path("down.txt").write_text("".join(f"{-(k % 2)}\n" for k in range(40)))
    result = podium("compare", "data.txt", "up.txt", "down.txt", "-m", "mrr", "-o", "out")
    assert result.exit_code == 0, result.stderr
    assert "best by mrr: up.txt, significantly better than every other run" in result.stderr
    assert Path("out/report.html").exists()
