"""Passages, against an index whose documents are the windows."""

import tracemalloc

import numpy as np
import pytest

from podium.base.errors import ParameterError
from podium.jit import tiers
from podium.text.analyser import Analyser
from podium.text.index.index import Index
from podium.text.retrieval import Retrieval


def windows(words, size, step):
    """Windows of words; the last one ends with the document."""
    parts, start = [], 0
    while True:
        parts.append(words[start : start + size])
        if start + size >= len(words):
            return parts
        start += step


@pytest.fixture(scope="module")
def texts():
    rng = np.random.default_rng(4)
    vocabulary = [f"w{k}" for k in range(15)] + ["the", "of"]
    return [rng.choice(vocabulary, rng.integers(0, 40)).tolist() for _ in range(30)]


@pytest.fixture(scope="module")
def index(texts, tmp_path_factory):
    rows = [{"id": str(k), "text": " ".join(text)} for k, text in enumerate(texts)]
    index = Index.create(tmp_path_factory.mktemp("passages") / "i", rows[:18], fields=["text"], analyser=Analyser())
    index.add(rows[18:])
    index.delete(["2"])
    yield index
    index.close()


@pytest.mark.parametrize("take", ["max", "first", "sum"])
@pytest.mark.parametrize(("size", "step"), [(8, 4), (5, 5), (3, 7), (100, 1)])
@pytest.mark.parametrize("of", ["bm25", "ql(mu=30.0)"])
def test_documents_have_the_scores_of_their_windows(index, texts, tmp_path, of, size, step, take):
    parts = {
        f"{k}/{n}": " ".join(part)
        for k, text in enumerate(texts) if k != 2
        for n, part in enumerate(windows(text, size, step))
    }  # fmt: skip
    alone = Index.create(tmp_path / "w", [{"id": id, "text": text} for id, text in parts.items()], fields=["text"])
    join = {"max": max, "sum": sum, "first": sum}[take]
    for query in ("w1 w2", "w3 w3 w7", "the"):
        scores = {}
        hits = alone.search(query, 10_000, by=of)
        for id, score in zip(hits.ids, hits.scores.tolist(), strict=True):
            k, n = id.split("/")
            if take != "first" or n == "0":
                scores.setdefault(k, []).append(score)
        expected = {k: join(values) for k, values in scores.items()}
        found = index.search(query, 100, by=f"passages(of={of},words={size},step={step},take={take})")
        assert dict(zip(found.ids, found.scores, strict=True)) == pytest.approx(expected, rel=1e-9)
        assert found.scores.tolist() == sorted(found.scores, reverse=True)
    alone.close()


def test_a_window_over_everything_is_the_document(index):
    whole, parts = (index.search("w1 w4", 100, by=by) for by in ("bm25", "passages(words=1000)"))
    assert whole.ids == parts.ids
    assert whole.scores == pytest.approx(parts.scores)


def test_filters_fields_and_words_that_are_nowhere(index, tmp_path):
    odd = lambda numbers: numbers % 2 == 1  # noqa: E731
    assert (index.search("w1", 100, by="passages", where=odd).numbers % 2 == 1).all()
    assert index.search("nowhere", by="passages").ids == []
    rows = [{"id": "a", "title": "heat", "text": "x y z"}, {"id": "b", "title": "cold", "text": "heat heat"}]
    two = Index.create(tmp_path / "two", rows, analyser="analyser(shortest=1)")
    assert two.search("heat", by="passages(of=bm25(fields=[title]),words=2,step=1)").ids == ["a"]
    assert two.search("heat", by="passages(words=2,step=1)").ids == ["b", "a"]
    two.close()


@pytest.mark.parametrize("by", ["passages(words=0)", "passages(step=0)", "passages(take=mean)", "passages(of=vectors)"])
def test_passages_that_cannot_be_are_refused(by):
    with pytest.raises(ParameterError):
        Retrieval.parse(by)


@pytest.mark.parametrize(("words", "step", "least"), [(1_000_000, 1, 10_000), (101, 1, 2), (301, 3, 4)])
def test_windows_that_overlap_without_end_are_refused(words, step, least):
    with pytest.raises(ParameterError, match=rf"step be at least {least}\."):
        Retrieval.parse(f"passages(words={words},step={step})")
    Retrieval.parse(f"passages(words={words},step={least})")


def test_memory_does_not_grow_with_the_windows_of_a_document_times_the_words_of_a_query(tmp_path, monkeypatch):
    monkeypatch.setattr(tiers, "is_small", lambda steps: True)  # so that memory is seen
    words = [f"w{k}" for k in range(2000)]
    index = Index.create(tmp_path / "i", [{"id": "a", "text": " ".join(words)}], fields=["text"], analyser=Analyser())
    query = index.query(" ".join(words[:400]))
    index.search(query, by="passages(words=1,step=1)")
    tracemalloc.start()
    try:
        found = index.search(query, by="passages(of=ql,words=1,step=1)")
        assert tracemalloc.get_traced_memory()[1] < 2_000_000  # 6.4 million for a number for each of both
    finally:
        tracemalloc.stop()
        index.close()
    assert found.ids == ["a"]
