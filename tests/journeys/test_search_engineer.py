"""A search engineer's way: a catalogue of Elasticsearch, judgments and a UBI log that name queries by text, no glue."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from podium.cli.main import app
from synthetic_shop import make_shop


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shop")
    make_shop().write(folder)
    return folder


@pytest.fixture
def podium(shop: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Run a command in the shop's folder, which must succeed."""
    monkeypatch.chdir(shop)
    monkeypatch.setenv("PODIUM_THREADS", "1")

    def run(*words: str) -> Any:
        result = CliRunner().invoke(app, list(words))
        assert result.exit_code == 0, result.stderr
        return result

    return run


@pytest.mark.slow
def test_from_a_catalogue_to_a_model_of_clicks_and_its_value(podium: Callable[..., Any]) -> None:
    made = podium("index", "dump.jsonl", "-o", "shop.index").stdout
    assert "ids        _id\n" in made
    assert "searched   title^3, description, brand.name, category, colour, use\n" in made
    assert "stored     price, rating, in_stock (numbers); released (dates); photo (URLs)\n" in made
    hits = json.loads(podium("search", "shop.index", "ember red backpack", "--where", "price<200", "--json").stdout)
    assert "backpack" in hits[0]["document"]["title"]
    assert all(hit["document"]["price"] < 200 for hit in hits)

    said = podium("features", "shop.index", "queries.jsonl", "judgments.csv", "-o", "train.txt").stderr
    assert "judgments.csv: query = query, document = product_id, grade = rating" in said
    assert "120 queries" in said
    assert "80 queries of 200 without a judgment left out" in said
    assert "stored fields among the features: price, rating, in_stock, released" in said
    trained = podium("train", "train.txt", "--method", "listnet", "-o", "model.podium").stdout
    assert "24 of 120 queries of train.txt, held out by --valid 0.2 (the default)" in trained

    for how, name in (((), "bm25.run"), (("--model", "model.podium"), "model.run")):
        podium("search", "shop.index", "--queries", "queries.jsonl", "--run", name, *how)
    judged = ("judgments.csv", "bm25.run", "model.run", "--queries", "queries.jsonl", "-m", "ndcg@10")
    compared = podium("compare", *judged, "--baseline", "bm25.run", "-o", "compared")
    assert "model.run is significantly better than bm25.run" in compared.stderr
    assert Path("compared", "report.html").is_file()
    gate = ("evaluate", "judgments.csv", "model.run", "--queries", "queries.jsonl", "-m", "ndcg@10")
    assert "gate passed" in podium(*gate, "--not-worse-than", "bm25.run", "--at-least", "ndcg@10=0.5").stderr

    said = podium("clicks", "import", "ubi", "ubi_queries.ndjson", "ubi_events.ndjson", "-o", "clicks.jsonl").stderr
    assert "from query_attributes.experiment" in said
    podium("clicks", "propensity", "clicks.jsonl", "--how", "harvest", "-o", "theta.json")
    learn = ("train", "train.txt", "--method", "listnet", "--clicks", "clicks.jsonl", "--propensities", "theta.json")
    refused = CliRunner().invoke(app, [*learn, "-o", "clicked.podium"])
    assert refused.exit_code == 1
    assert "--queries" in refused.stderr
    said = podium(*learn, "--queries", "queries.jsonl", "-o", "clicked.podium").stderr
    assert "3000 of 3000 pages joined by the queries of queries.jsonl" in said
    assert "120 of 120 queries were logged" in said
    value = ("value", "model.podium", "clicked.podium", "clicks.jsonl", "--propensities", "theta.json")
    estimated = json.loads(podium(*value, "--data", "train.txt", "--queries", "queries.jsonl", "--json").stdout)
    assert [ranker["name"] for ranker in estimated["values"]] == ["what was shown", "model", "clicked"]


@pytest.mark.slow
def test_a_log_imported_with_the_queries_needs_no_further_joining(podium: Callable[..., Any]) -> None:
    podium("clicks", "import", "ubi", "ubi_queries.ndjson", "ubi_events.ndjson", "--queries", "queries.jsonl",
           "-o", "by_id.jsonl")  # fmt: skip
    first = json.loads(Path("by_id.jsonl").read_text().splitlines()[0])
    queries = dict(json.loads(line).values() for line in Path("queries.jsonl").read_text().splitlines())
    assert queries[first["query"]] == first["text"]
