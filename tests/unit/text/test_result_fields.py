"""Facets, orders by a stored field, documents like one, and suggestions."""

from collections import Counter

import numpy as np
import pytest

from podium.base.errors import DataError, ParameterError, UnknownNameError
from podium.text import suggestions, vocabulary
from podium.text.index.index import Index
from podium.text.result_fields import all_results, facet, sort_by
from podium.text.suggestions import did_you_mean, more_like

COLOURS = ["red", "green", "blue"]


@pytest.fixture(scope="module")
def documents():
    rng = np.random.default_rng(6)
    rows = []
    for k in range(50):
        row = {
            "id": str(k),
            "text": " ".join(rng.choice(["tent", "stove", "bag", "rope"], 4)),
            "price": int(rng.integers(9)),
        }
        row["colours"] = rng.choice(COLOURS, rng.integers(0, 4)).tolist()
        row["size"] = [2.5, "large", None, 10, True][k % 5]
        rows.append({name: value for name, value in row.items() if value is not None})
    return rows


@pytest.fixture(scope="module")
def index(documents, tmp_path_factory):
    index = Index.create(tmp_path_factory.mktemp("fields") / "i", documents[:30], fields=["text"])
    index.add(documents[30:])
    index.delete(["5"])
    yield index
    index.close()


def matching(documents, word):
    return [row for row in documents if word in row["text"].split() and row["id"] != "5"]


def test_all_results_are_those_that_match(index, documents):
    results = all_results(index, "tent rope")
    hits = index.search("tent rope", 100)
    assert results.numbers.tolist() == hits.numbers.tolist()
    assert results.scores.tolist() == hits.scores.tolist()
    assert sorted(index.ids(all_results(index, "tent").numbers)) == sorted(r["id"] for r in matching(documents, "tent"))


def test_a_facet_counts_documents(index, documents):
    numbers = all_results(index, "tent").numbers
    counts = Counter(colour for row in matching(documents, "tent") for colour in set(row["colours"]))
    assert dict(facet(index, numbers, "colours")) == counts
    prices = Counter(row["price"] for row in matching(documents, "tent"))
    expected = sorted(prices.items(), key=lambda pair: (-pair[1], pair[0]))
    assert facet(index, numbers, "price", most=100) == expected
    assert facet(index, numbers, "price", most=2) == expected[:2]
    assert dict(facet(index, numbers, "size")) == Counter(r["size"] for r in matching(documents, "tent") if "size" in r)
    assert facet(index, numbers[:0], "price") == []
    with pytest.raises(UnknownNameError):
        facet(index, numbers, "weight")
    with pytest.raises(ParameterError):
        facet(index, numbers, "price", most=0)


@pytest.mark.parametrize("falling", [False, True])
@pytest.mark.parametrize("field", ["price", "colours", "size"])
def test_results_are_sorted_by_a_field(index, documents, field, falling):
    results = all_results(index, "tent stove")
    ordered = index.ids(sort_by(index, results, f"-{field}" if falling else field).numbers)
    rows, choose = {row["id"]: row for row in documents}, max if falling else min

    def key(id):
        values = rows[id].get(field)
        values = values if isinstance(values, list) else [] if values is None else [values]
        return choose(((isinstance(v, str), v) for v in values), default=None)

    with_value = sorted((id for id in index.ids(results.numbers) if key(id)), key=key, reverse=falling)
    assert ordered[: len(with_value)] == with_value  # sorting is stable: ties stay in the order of scores
    assert ordered[len(with_value) :] == [id for id in index.ids(results.numbers) if not key(id)]


def test_documents_like_one_share_its_rare_words(tmp_path):
    texts = {"a": "iron stove heavy", "b": "iron stove light", "c": "iron pan", "d": "tent light", "e": "iron bag"}
    index = Index.create(tmp_path / "i", [{"id": id, "text": text} for id, text in texts.items()])
    query = more_like(index, "a")
    assert [index.store.term(t) for t in query.terms] == ["heavi", "stove", "iron"]
    assert index.search(query).ids[:2] == ["a", "b"]
    assert len(more_like(index, "a", terms=2).terms) == 2
    with pytest.raises(DataError, match="no document"):
        more_like(index, "zz")
    index.set_vectors(list(texts), np.eye(5, dtype=np.float32) + 0.1)
    assert index.search(more_like(index, "d"), 1, by="vectors").ids == ["d"]
    index.close()


@pytest.fixture(scope="module")
def recipes(tmp_path_factory):
    rows = [
        {"id": "1", "text": "Baking bread, tomatoes"},
        {"id": "2", "text": "bread and beads"},
        {"id": "3", "text": "tomato"},
    ]
    index = Index.create(tmp_path_factory.mktemp("recipes") / "i", rows)
    yield index
    index.close()


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("braed", "bread"), ("bread tomtaoes!", "bread tomatoes!"), ("Baking braed", "Baking bread"),
        ("bread", None), ("xylophone", None), ("br", None), ("", None), ("+braed -tent", "+bread -tent"),
        ("bead", None), ("brea", "bread"),
    ],
)  # fmt: skip
def test_words_that_no_document_has_are_replaced_by_near_ones(recipes, text, meant):
    assert did_you_mean(recipes, recipes.query(text)) == meant


def test_a_text_of_many_unknown_words_is_not_looked_for_word_by_word(recipes, monkeypatch):
    looked_for = []

    def near_words(index, word, typos):
        looked_for.append(word)
        return vocabulary.near_words(index, word, typos)

    monkeypatch.setattr(suggestions, "near_words", near_words)
    assert did_you_mean(recipes, recipes.query("braed " * 500)) == ("bread " * 500)
    assert looked_for == ["braed", "bra"]  # the word and its stem, once
    looked_for.clear()
    assert did_you_mean(recipes, recipes.query(" ".join(f"braed q{k}q" for k in range(500)))) is None
    assert not looked_for


def test_the_spelling_of_a_suggestion_is_looked_for_at_the_beginning_of_a_few_documents(tmp_path):
    rows = [{"id": "1", "text": "word " * 12_000 + "zithers"}, {"id": "2", "text": "old zithers"}]
    index = Index.create(tmp_path / "i", rows[:1], fields=["text"])
    assert did_you_mean(index, index.query("zitherz")) == "zither"  # its term
    index.add(rows[1:])
    assert did_you_mean(index, index.query("zitherz")) == "zithers"
    index.close()
