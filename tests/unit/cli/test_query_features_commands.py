"""A market of each query, from a column or a file next to the data, through train, rank, evaluate and compare."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from podium.formats import read_data, write_letor
from podium.model import Model

Podium = Callable[..., Any]
SHARED = "listnet(transform=shared(by=market))"


def table(path: str, words: list[str], *, seed: int = 0, queries: int = 30) -> None:
    """A table with a market for each query; in half of the markets a feature counts against a document."""
    rng = np.random.default_rng(seed)
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(["qid", "label", "market", "bm25", "price"])
        for q in range(queries):
            market = q % len(words)
            for x in rng.normal(size=(8, 2)).round(3).tolist():
                lines.writerow([f"q{q}", int(x[0] + (1 if market else -1) * x[1] > 0), words[market], *x])


def test_a_column_of_words_is_the_market_of_a_model_that_ranks_new_markets_too(podium: Podium) -> None:
    table("shop.csv", ["de", "uk"])
    table("new.csv", ["de", "uk", "jp"], seed=1, queries=3)
    refused = podium("train", "shop.csv", "--method", SHARED)
    assert refused.exit_code != 0
    assert "column 'market' holds String" in refused.stderr
    assert "--query-features" in refused.stderr
    result = podium("train", "shop.csv", "--query-features", "market", "--method", SHARED)
    assert result.exit_code == 0, result.stderr
    assert "2 features" in result.stdout
    assert "strength=0.5" in result.stdout
    ranked = podium("rank", "model.podium", "new.csv")
    assert ranked.exit_code == 0, ranked.stderr
    model = Model.load("model.podium")
    data = read_data("new.csv", query_features=["market"])
    assert [float(line) for line in ranked.stdout.split()] == model.score(data).tolist()
    assert model.query_columns == ("market",)
    theta, state, X = model.params["theta"][:2], model.state, np.asarray(data.features)[16:]
    shared = ((X - state["of.mean"]) * state["of.scale"]) @ theta
    np.testing.assert_allclose(model.score(data)[16:], shared, atol=1e-5)  # of a new market, by shared weights


def test_a_market_must_be_the_same_in_all_rows_and_exist(podium: Podium) -> None:
    table("shop.csv", ["de", "uk"], queries=4)
    text = Path("shop.csv").read_text(encoding="utf-8")
    Path("apart.csv").write_text(text.replace("de", "fr", 1), encoding="utf-8")
    result = podium("train", "apart.csv", "--query-features", "market", "--method", SHARED)
    assert "query q0: its rows have different values of 'market'" in result.stderr
    result = podium("train", "shop.csv", "--query-features", "markt", "--method", SHARED)
    assert "no column 'markt' (query_features); did you mean 'market'?" in result.stderr


def test_methods_are_compared_by_market_of_a_table_or_of_a_file_of_queries(podium: Podium) -> None:
    table("shop.csv", ["de", "uk"], queries=60)
    data = read_data("shop.csv", query_features=["market"])
    write_letor(data, "shop.txt")
    names = "".join(f"q{q} {('de', 'uk')[q % 2]}\n" for q in range(60))
    Path("shop.txt.queries").write_text("query market\n" + names, encoding="utf-8")
    words = ("--method", "listnet", "--method", SHARED, "-m", "ndcg@10", "--by", "market")
    results = [podium("compare", file, *words, "--json") for file in ("shop.csv", "shop.txt")]
    first, second = (json.loads(result.stdout) for result in results)
    rows = first["segments"]["ndcg@10"]["segments"]
    assert {(row["segment"], row["system"]) for row in rows} == {
        (m, s) for m in ("de", "uk") for s in ("listnet", SHARED)
    }
    assert rows == second["segments"]["ndcg@10"]["segments"]
    assert first["segments"]["ndcg@10"]["correction"] == "holm"
    assert all(row["difference"] > 0 for row in rows if row["system"] == SHARED)
    assert sum(row["queries"] for row in rows if row["system"] == SHARED) == 12
    shown = podium("compare", "shop.txt", *words, "-o", "out")
    assert "ndcg@10 by segment" in shown.stdout
    assert "differences from listnet; p-values are corrected" in shown.stderr
    assert "| de |" in Path("out/table.md").read_text(encoding="utf-8")
    again = podium("compare", "out/spec.toml")
    assert again.exit_code == 0, again.stderr
    assert "ndcg@10 by segment" in again.stdout


def test_a_model_is_evaluated_by_market_of_the_file_of_queries(podium: Podium) -> None:
    table("shop.csv", ["de", "uk"])
    write_letor(read_data("shop.csv", query_features=["market"]), "shop.txt")
    Path("scores.txt").write_text("1\n0\n" * 120, encoding="utf-8")
    Path("shop.txt.queries").unlink()
    result = podium("evaluate", "shop.txt", "scores.txt", "--by", "market")
    assert "shop.txt.queries" in result.stderr
    names = "".join(f"q{q} {('de', 'uk')[q % 2]}\n" for q in range(30))
    Path("shop.txt.queries").write_text("query market\n" + names, encoding="utf-8")
    result = podium("evaluate", "shop.txt", "scores.txt", "--by", "market")
    assert result.exit_code == 0, result.stderr
    assert "de" in result.stdout
    assert "uk" in result.stdout
    missing = podium("compare", "shop.txt", "--method", "listnet", "--by", "language")
    assert "no column 'language'; there are: market." in missing.stderr
