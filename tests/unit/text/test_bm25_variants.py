"""Variants of BM25 against sums written out, and worked numbers."""

import math

import numpy as np
import pytest

from podium.base.errors import ParameterError
from podium.text.analyser import Analyser
from podium.text.index.index import Index
from podium.text.query import Query
from podium.text.retrieval import BM25, Retrieval
from podium.text.retrieval.base import Scratch, Statistics, Sums, Totals

PLAIN = Analyser(stem=False, stop=False, shortest=1)


def slow(variant, c, B, n, df, k1, delta):
    """The score of one term."""
    if c == 0:
        return 0.0
    saturated = c * (k1 + 1) / (c + k1 * B)
    if variant == "robertson":
        return max(math.log((n - df + 0.5) / (df + 0.5)), 0.0) * saturated / (k1 + 1)
    if variant == "atire":
        return math.log(n / df) * saturated
    if variant == "l":
        return math.log((n + 1) / (df + 0.5)) * (k1 + 1) * (c / B + delta) / (k1 + c / B + delta)
    return math.log((n + 1) / df) * (saturated + delta)


@pytest.mark.parametrize(
    ("variant", "value"), [("robertson", 1.180260), ("atire", 2.775719), ("l", 3.085739), ("plus", 5.100249)]
)
def test_the_worked_numbers(variant, value):
    """tf 2, |d|/avg 1.5, N 100, df 10, k1 1.2, b .75."""
    postings = np.array([0, 1]), np.array([0], np.int32), np.array([2], np.int32)
    scratch = Scratch.of(1)
    sums = Sums(np.array([0]), postings, np.array([150.0]), np.zeros(1, np.bool_), scratch, lambda _, make: make())
    query = Query("", np.zeros(1, np.int32), np.ones(1), np.zeros(1, np.int32), ())
    statistics = Statistics(100, np.array([1e4, 1e4]), np.array([[10.0, 10.0]]), np.array([[20.0, 20.0]]))
    assert BM25(variant=variant).scores(sums, query, statistics, Totals(1e4, np.array([20.0]))) == 1
    assert scratch.scores[0] == pytest.approx(value, abs=5e-7)


@pytest.mark.parametrize(
    "by", ["bm25(variant=robertson)", "bm25(variant=atire,k1=0.5)", "bm25(variant=l)", "bm25(variant=plus,b=0.3)",
           "bm25(variant=l,delta=2.0)", "bm25(variant=plus,delta=0.0)"],
)  # fmt: skip
def test_scores_are_sums_over_the_terms_that_a_document_has(tmp_path, by):
    rng = np.random.default_rng(8)
    texts = [rng.choice([f"w{k}" for k in range(12)], rng.integers(1, 15)).tolist() for _ in range(40)]
    index = Index.create(
        tmp_path / "i",
        [{"id": str(k), "text": " ".join(t)} for k, t in enumerate(texts)],
        fields=["text"],
        analyser=PLAIN,
    )
    how, n, mean = Retrieval.parse(by), len(texts), sum(map(len, texts)) / len(texts)
    delta = {"l": 0.5, "plus": 1.0}.get(how.variant, 0.0) if how.delta is None else how.delta
    for query in (["w1"], ["w2", "w5", "w2"], ["w0", "w11", "w7"]):
        hits = index.search(" ".join(query), 100, by=how)
        expected = {}
        for k, text in enumerate(texts):
            if set(query) & set(text):
                B = 1 - how.b + how.b * len(text) / mean
                df = {t: sum(t in other for other in texts) for t in query}
                expected[str(k)] = sum(slow(how.variant, text.count(t), B, n, df[t], how.k1, delta) for t in query)
        assert dict(zip(hits.ids, hits.scores, strict=True)) == pytest.approx(expected, rel=1e-12)
    index.close()


def test_variants_are_parsed_and_bounded():
    assert repr(Retrieval.parse("bm25(variant=l,delta=0.25)")) == "bm25(variant=l,delta=0.25)"
    for wrong in ("bm25(variant=m)", "bm25(delta=1)", "bm25(variant=atire,delta=1)", "bm25(variant=l,delta=-1)"):
        with pytest.raises(ParameterError):
            Retrieval.parse(wrong)
