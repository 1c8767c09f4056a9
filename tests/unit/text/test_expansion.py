"""Query expansion: the words that are added, against dictionaries and worked numbers."""

import math
import tracemalloc
from collections import Counter

import numpy as np
import pytest

from podium.base.errors import ParameterError
from podium.text.analyser import Analyser
from podium.text.expansion.expansion import FirstDocuments, word_weights
from podium.text.expansion.rm3 import RM3, relevance_model
from podium.text.index.index import Index
from podium.text.retrieval import Retrieval

WORDS = [f"w{k}" for k in range(30)]
NAMES = ["rm3", "rm3(documents=4,terms=3,query=0.2)", "rm3(by=exp,of=ql)", "bo1", "bo1(documents=5,terms=4)", "kl"]


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """Random documents with stop words, in an index of two segments, one deleted."""
    rng = np.random.default_rng(1)
    odds = 1 / np.arange(1, 31)
    texts = {str(k): [*rng.choice(WORDS, rng.integers(1, 20), p=odds / odds.sum()), "the"] for k in range(40)}
    rows = [{"id": id, "text": " ".join(words)} for id, words in texts.items()]
    index = Index.create(tmp_path_factory.mktemp("expansion") / "i", rows[:25], fields=["text"], analyser=Analyser())
    index.add(rows[25:])
    index.delete(["4"])
    del texts["4"]
    yield index, {id: [word for word in words if word != "the"] for id, words in texts.items()}
    index.close()


def slow(how, texts, hits, query):
    """The weights of the expanded query, by dictionaries; `hits` are pairs of id and score."""
    words = Counter(word for text in texts.values() for word in text)
    first, asked = hits[: how.documents], Counter(query)
    if how.name == "rm3":
        mass = [math.exp(s) if how.by == "exp" else max(s, 0.0) for _, s in first]
        weights = Counter()
        for (id, _), m in zip(first, mass, strict=True):
            for word in texts[id]:
                weights[word] += m / sum(mass) / len(texts[id])
        kept = dict(sorted(weights.items(), key=lambda pair: -pair[1])[: how.terms])
        total = sum(kept.values())
        joined = Counter({word: how.query * n for word, n in asked.items()})
        for word, weight in kept.items():
            joined[word] += (1 - how.query) * len(query) * weight / total
        return joined
    tf, length = Counter(word for id, _ in first for word in texts[id]), sum(len(texts[id]) for id, _ in first)
    if how.name == "bo1":
        P = {word: words[word] / len(texts) for word in tf}
        weights = {word: tf[word] * math.log2((1 + P[word]) / P[word]) + math.log2(1 + P[word]) for word in tf}
    else:
        weights = {word: n / length * math.log2(n / length / (words[word] / words.total())) for word, n in tf.items()}
    kept = dict(sorted(weights.items(), key=lambda pair: -pair[1])[: how.terms])
    kept = {word: weight for word, weight in kept.items() if weight > 0}
    joined = Counter({word: n / max(asked.values()) for word, n in asked.items()})
    for word, weight in kept.items():
        joined[word] += weight / max(kept.values())
    return joined


@pytest.mark.parametrize("name", NAMES)
def test_the_words_that_are_added_are_those_of_dictionaries(collection, name):
    index, texts = collection
    how = Retrieval.parse(name)
    for query in (["w1", "w7"], ["w12"], ["w3", "w3", "w20"]):
        hits = index.search(" ".join(query), 100, by=how.of)
        expected = slow(how, texts, list(zip(hits.ids, hits.scores.tolist(), strict=True)), query)
        expanded = how.expanded(index, index.query(" ".join(query)))
        assert word_weights(index, expanded) == pytest.approx(dict(expected), rel=1e-9)
        again = index.search(expanded, 100, by=how.of)
        found = index.search(" ".join(query), 100, by=how)
        assert found.ids == again.ids
        assert found.scores.tobytes() == again.scores.tobytes()


def worked(by):
    counts = np.array([[2.0, 1.0, 0.0], [1.0, 0.0, 1.0]])  # "a a b" and "a c"
    return relevance_model(FirstDocuments(np.array([2.0, 1.0]), np.arange(3, dtype=np.int32), counts), by=by)


def test_the_worked_relevance_models():
    assert worked("share") == pytest.approx([0.611111, 0.222222, 0.166667], abs=5e-7)
    assert worked("exp") == pytest.approx([0.621843, 0.243686, 0.134471], abs=5e-7)


def test_the_worked_mixture(tmp_path):
    index = Index.create(tmp_path / "i", [{"id": "1", "text": "aa"}])
    mixed = RM3(query=0.6).joined(index.query("aa"), np.arange(3, dtype=np.int32), worked("exp"))
    assert mixed.times == pytest.approx([0.848737, 0.097474, 0.053788], abs=1e-6)
    index.close()


def test_with_the_query_alone_rm3_is_its_first_stage(collection):
    index, _ = collection
    for of in ("bm25", "ql(mu=50.0)"):
        plain, mixed = (index.search("w1 w7 w7", 100, by=by) for by in (of, f"rm3(of={of},query=1.0)"))
        assert plain.ids == mixed.ids
        assert plain.scores == pytest.approx(mixed.scores)


def test_scores_below_0_give_no_shares():
    first = FirstDocuments(np.array([-1.0, -2.0]), np.arange(2, dtype=np.int32), np.eye(2))
    assert relevance_model(first, by="share").tolist() == [0.5, 0.5]


@pytest.mark.parametrize("name", ["rm3", "bo1", "kl"])
def test_queries_that_find_nothing_and_stop_words(collection, name):
    index, _ = collection
    assert index.search("nowhere", by=name).ids == []
    assert index.search("", by=name).ids == []
    expanded = Retrieval.parse(name).expanded(index, index.query("w1 the nowhere"))
    assert "the" not in word_weights(index, expanded)
    assert index.search("the", by=name).ids
    assert index.search("+w1 -w0", 100, by=name, syntax=True).ids
    assert set(index.search("+w1 -w0", 100, by=name, syntax=True).ids) <= set(
        index.search("+w1 -w0", 100, syntax=True).ids
    )


@pytest.mark.parametrize(
    "name", ["rm3(of=vectors)", "rm3(query=2)", "rm3(documents=0)", "bo1(terms=100000)", "kl(of=rm3)"]
)
def test_what_cannot_be_expanded_is_refused(name):
    with pytest.raises(ParameterError):
        Retrieval.parse(name)


@pytest.mark.parametrize("name", ["rm3", "bo1", "kl"])
def test_memory_does_not_grow_with_the_documents_times_their_words(tmp_path, name):
    rows = [{"id": str(k), "text": " ".join(["heat", *(f"w{k}x{j}" for j in range(100))])} for k in range(100)]
    index = Index.create(tmp_path / "i", rows, fields=["text"])
    index.search("heat", by=name)
    tracemalloc.start()
    try:
        found = index.search("heat", 100, by=f"{name}(documents=100)")
        assert tracemalloc.get_traced_memory()[1] < 4_000_000  # 8 million for a number for each of both
    finally:
        tracemalloc.stop()
        index.close()
    assert len(found) == 100
