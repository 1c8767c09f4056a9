"""Lucene's features against Lucene's own numbers, tests/golden/lucene.json, to the bit."""

import json
from pathlib import Path

import numpy as np
import pytest

import podium
from podium.export import export
from podium.text import Index, dataset
from podium.text.context import Context
from podium.text.features import Feature, read_features
from podium.text.features.lucene import kept_length
from reference.engines import ENGINES

GOLDEN = json.loads((Path(__file__).parents[2] / "golden" / "lucene.json").read_text())


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    path = tmp_path_factory.mktemp("lucene") / "my.index"
    opened = Index.create(path, GOLDEN["documents"])
    yield opened
    opened.close()


def values(index, feature, query):
    ids = [document["id"] for document in GOLDEN["documents"]]
    return Feature.parse(feature).values(Context(index, index.query(query), index.numbers(ids)))


def test_lengths_are_those_that_one_byte_keeps():
    numbers, kept = np.array(GOLDEN["lengths"]).T
    assert kept_length(numbers.astype(float)).tolist() == kept.tolist()


@pytest.mark.parametrize("row", GOLDEN["scores"], ids=lambda row: f"{row['query']} in {row['field']}")
def test_scores_are_lucenes_to_the_bit(index, row):
    for name in ("bm25", "phrase"):
        expected = np.array(row[name], np.float32)
        got = values(index, f"lucene_{name}(field={row['field']})", row["query"]).astype(np.float32)
        np.testing.assert_array_equal(got, expected, err_msg=name)


def test_the_golden_queries_match_and_miss(index):
    """So that the comparison above is one: some scores are 0, and phrases over stop words occur."""
    by_query = {(row["query"], row["field"]): row for row in GOLDEN["scores"]}
    assert 0 < np.count_nonzero(by_query["flow of heat", "text"]["phrase"]) < 60
    assert not any(by_query["of the", "text"]["bm25"])
    assert any(by_query["unheard heat", "text"]["bm25"])
    assert not any(by_query["unheard heat", "text"]["phrase"])


def test_sets_of_engines_have_what_these_compute(index):
    names = [repr(feature) for feature in read_features("elasticsearch", index)]
    assert names == [f"lucene_{kind}(field={field})" for field in ("title", "text") for kind in ("bm25", "phrase")]
    assert "lucene_length(field=text)" in [repr(feature) for feature in read_features("solr", index)]
    assert values(index, "lucene_length(field=text)", "x").max() == max(
        kept_length(np.array([float(sum(word not in ("the", "of", "in", "and", "a") for word in d["text"].split()))]))[
            0
        ]
        for d in GOLDEN["documents"]
    )


def test_no_k1_leaves_the_idf(index):
    got = values(index, "lucene_bm25(field=text,k1=0)", "heat")
    df = np.count_nonzero(got)
    assert set(got[got > 0].astype(np.float32)) == {np.float32(np.log(1 + (60 - df + 0.5) / (df + 0.5)))}


@pytest.mark.parametrize("target", ["elasticsearch-ltr", "solr"])
def test_an_engine_that_has_lucenes_numbers_ranks_as_podium_does(index, tmp_path, target):
    """Features by podium, a model, its export; then the engine's rules on Lucene's own features."""
    by_query = {(row["query"], row["field"]): row for row in GOLDEN["scores"]}
    queries = [{"id": text, "text": text} for text in {text: 0 for text, _ in by_query} if text != "of the"]
    qrels = {query["id"]: {f"d{k}": float(k % 3) for k in range(60)} for query in queries}
    data = dataset(index, queries, qrels, features="elasticsearch")
    model = podium.train(data, "regression(transform=identity,scorer=trees,solver=boosting(rounds=5))")
    proof = export(model, target, tmp_path / "model.json", data=data)
    assert proof.holds
    raw = (tmp_path / "model.json").read_bytes()
    engine = podium.Engine(index, model)
    for query in queries:
        answer = engine.search(query["text"], 60)
        features = [
            {
                f"lucene_{kind}(field={field})": np.float32(by_query[query["text"], field][kind][int(id[1:])])
                for field in ("title", "text")
                for kind in ("bm25", "phrase")
            }
            for id in answer.ids
        ]
        theirs = [ENGINES[target](raw, x) for x in features]
        np.testing.assert_allclose(theirs, answer.scores, rtol=0, atol=proof.bound)
