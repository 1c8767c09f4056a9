"""First-stage scores against sums written out, and against bm25s."""

import dataclasses
import math

import numpy as np
import pytest

from podium.base.errors import ParameterError
from podium.jit import tiers
from podium.text.analyser import Analyser
from podium.text.context import Context
from podium.text.features import Feature
from podium.text.index.index import Index
from podium.text.retrieval import base, bm25, query_likelihood
from podium.text.retrieval.base import Scratch

PLAIN = Analyser(stem=False, stop=False, shortest=1)


def draw(seed, n=60, words=40):
    rng = np.random.default_rng(seed)
    vocabulary = np.array([f"w{k}" for k in range(words)])
    odds = 1 / np.arange(1, words + 1)
    text = lambda: rng.choice(vocabulary, rng.integers(0, 20), p=odds / odds.sum()).tolist()  # noqa: E731
    return [{"title": text()[:4], "text": text()} for _ in range(n)], [text()[:6] for _ in range(20)]


def make(path, documents):
    given = [{"id": str(k), **{f: " ".join(one[f]) for f in one}} for k, one in enumerate(documents)]
    index = Index.create(path, given[:40], fields=["title", "text"], analyser=PLAIN)
    index.add(given[40:])
    return index


def test_scores_equal_those_of_bm25s(tmp_path):
    bm25s = pytest.importorskip("bm25s")
    documents, queries = draw(0)
    index, k1, b = make(tmp_path / "i", documents), 0.9, 0.4
    peer = bm25s.BM25(method="lucene", k1=k1, b=b)
    peer.index([one["title"] + one["text"] for one in documents], show_progress=False)
    compared = 0
    for query in queries:
        known = [word for word in query if word in peer.vocab_dict]
        if not known:
            continue
        expected = peer.get_scores(known) * (k1 + 1)
        hits = index.search(" ".join(query), k=100, by=f"bm25(k1={k1},b={b})")
        found = np.zeros(len(documents))
        found[[int(id) for id in hits.ids]] = hits.scores
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-6)
        compared += len(hits)
    assert compared > 200
    index.close()


def test_bm25_of_search_is_the_feature(tmp_path):
    documents, queries = draw(1)
    index = make(tmp_path / "i", documents)
    for query in queries:
        hits = index.search(" ".join(query), k=100)
        context = Context(index, index.query(" ".join(query)), hits.numbers)
        assert Feature.parse("bm25").values(context) == pytest.approx(hits.scores, rel=1e-12)
        order = sorted(zip(-hits.scores, hits.numbers, strict=True))
        assert [n for _, n in order] == hits.numbers.tolist()
    index.close()


@pytest.mark.parametrize("weights", [{"title": 1.0, "text": 1.0}, {"title": 2.5, "text": 0.5}, {"title": 1.0}])
def test_weighted_fields_equal_their_sums(tmp_path, weights):
    documents, queries = draw(2)
    index = make(tmp_path / "i", documents)
    fields = ",".join(f"{name}^{weight}" for name, weight in weights.items())

    def count(word, one):
        return sum(weight * one[name].count(word) for name, weight in weights.items())

    sizes = [sum(weight * len(one[name]) for name, weight in weights.items()) for one in documents]
    mean, total, n = sum(sizes) / len(sizes), sum(sizes), len(documents)
    for query in queries:
        bm25, ql = {}, {}
        for k, one in enumerate(documents):
            if not any(count(word, one) for word in query):
                continue
            df = {word: sum(word in two["title"] + two["text"] for two in documents) for word in query}
            bm25[k] = sum(
                math.log(1 + (n - df[t] + 0.5) / (df[t] + 0.5)) * 2.2 * count(t, one)
                / (count(t, one) + 1.2 * (0.25 + 0.75 * sizes[k] / mean))
                for t in query
            )  # fmt: skip
            shares = {t: sum(count(t, two) for two in documents) / total for t in query}
            ql[k] = sum(
                math.log((count(t, one) + 50 * p) / (sizes[k] + 50)) - math.log(p) for t in query if (p := shares[t])
            )
        for expected, by in ((bm25, f"bm25(fields=[{fields}])"), (ql, f"ql(mu=50.0,fields=[{fields}])")):
            hits = index.search(" ".join(query), k=100, by=by)
            assert dict(zip(map(int, hits.ids), hits.scores, strict=True)) == pytest.approx(expected, rel=1e-9)
    index.close()


def test_the_best_k_are_the_first_of_all(tmp_path):
    documents, queries = draw(3)
    index = make(tmp_path / "i", documents)
    for query in queries:
        everything = index.search(" ".join(query), k=1000)
        for k in (1, 2, 5, 17):
            some = index.search(" ".join(query), k=k)
            assert some.ids == everything.ids[:k]
            assert some.scores.tobytes() == everything.scores[:k].tobytes()
    index.close()


def test_repeated_query_words_count_each_time(tmp_path):
    index = make(tmp_path / "i", draw(4)[0])
    one, two = index.search("w3", k=99), index.search("w3 w3", k=99)
    assert two.scores == pytest.approx(2 * one.scores)
    index.close()


HOSTILE = [
    "bm25(k1=1.79e308,b=1)", "bm25(k1=inf)", "bm25(k1=nan)", "bm25(k1=-1)", "bm25(b=2)", "bm25(b=nan)", "ql(mu=1e-320)",
    "ql(mu=1e308)", "ql(mu=0)", "bm25(fields=[title^nan])", "bm25(fields=[title^inf])", "bm25(fields=[title^-1])",
    "bm25(fields=[title^1e308])", "bm25(fields=[title^1e-320])", "bm25(fields=[title^x])", "bm25(fields=[title^0])",
    "bm25(fields=[title,title^2])", "ql(fields=[title^nan])", "hybrid(depth=1000000000)", "hybrid(damping=nan)",
    "hybrid(depth=0)", "hybrid(words=" * 500 + "bm25" + ")" * 500,
]  # fmt: skip


@pytest.mark.parametrize("by", HOSTILE)
def test_numbers_beyond_use_are_refused(tmp_path, by):
    index = Index.create(tmp_path / "i", [{"id": "a", "title": "heat", "text": "slabs"}])
    with pytest.raises(ParameterError):
        index.search("heat slabs", by=by)
    index.close()


@pytest.mark.parametrize(
    "by", ["bm25(k1=1e6,b=1)", "bm25(k1=0)", "bm25(k1=1e6,fields=[title^1e6,text^1e-6])", "ql(mu=1e-6)", "ql(mu=1e9)"]
)
def test_scores_are_numbers_up_to_the_bounds(tmp_path, by):
    documents, queries = draw(4)
    index = make(tmp_path / "i", documents)
    for query in queries:
        hits = index.search(" ".join(query), 1000, by=by)
        assert np.isfinite(hits.scores).all()
        assert len(set(hits.ids)) == len(hits)
    index.close()


@pytest.mark.parametrize("worth", [0.0, 1.0, np.nan, np.inf])
@pytest.mark.parametrize("norm", [1.0, np.inf, np.nan])
def test_a_document_is_listed_once_whatever_its_score_is(worth, norm):
    D, m = 3, 50
    places, pointers = np.arange(m), np.arange(0, D * m + 1, D)
    rows, counts = np.tile(np.arange(D, dtype=np.int32), m), np.ones(D * m, np.int32)
    room, dead = Scratch(np.zeros(D), np.zeros(D, bool), np.full(D * m, -7, np.int32)), np.zeros(D, bool)
    arrays = (np.full(m, worth), np.full(m, np.inf), pointers, rows, counts, dead, np.full(D, norm))
    n = bm25._bm25(places, *arrays, np.empty(0, bool), 2, *room)
    assert n == D
    assert room.touched[:n].tolist() == [0, 1, 2]
    assert (room.touched[n:] == -7).all()
    best, taken = np.empty(2), np.empty(2, np.int64)
    assert base.take_best(*room, n, np.empty(0, bool), best, taken) == 2
    assert not room.scores.any()
    assert not room.seen.any()
    share = np.full(m, max(worth, 1e300))
    n = query_likelihood._query_likelihood(
        places, np.ones(m), share, pointers, rows, counts, dead, np.full(D, norm), 1.0, *room
    )
    assert n == D


def test_searches_with_ever_new_parameters_keep_a_bounded_number_of_bytes(tmp_path, monkeypatch):
    monkeypatch.setattr("podium.text.index.index.LEAST_KEPT", 20_000)
    documents, queries = draw(5, n=200)
    index = make(tmp_path / "i", documents)
    first = index.search(" ".join(queries[0]), 100)
    budget = max(20_000, sum(segment.nbytes for segment in index.segments))
    for k in range(400):
        index.search("w1 w2", by=f"bm25(k1={k},fields=[title^{k + 1},text])")
        index.search("w1 w2", by=f"ql(mu={k + 1})")
        assert index._arrays.bytes <= budget
    assert index._arrays.bytes == sum(a.nbytes for key in index._arrays for a in index._arrays._values[key])
    assert len(index._kept) < 10
    again = index.search(" ".join(queries[0]), 100)
    assert (first.ids, first.scores.tobytes()) == (again.ids, again.scores.tobytes())
    index.close()


def test_the_same_parameters_written_otherwise_are_kept_once(tmp_path):
    index = make(tmp_path / "i", draw(6)[0])
    for by in ("bm25(k1=1,fields=[title^2,text])", "bm25(k1=1.0,fields=[text^1.0,title^2e0])"):
        index.search("w1 w2", by=by)
    assert len(list(index._arrays)) == 2 * len(index.segments)
    index.close()


class _Exhaustive(bm25.BM25):
    """BM25 that scores every document with a word of the query."""

    def scores(self, sums, query, statistics, totals):
        return super().scores(dataclasses.replace(sums, limits=None), query, statistics, totals)


@pytest.mark.parametrize("by", ["bm25", "bm25(k1=0,b=0)", "bm25(k1=3,b=1,fields=[title^2,text])", "bm25(fields=title)"])
def test_leaving_documents_out_early_changes_no_bit(tmp_path, by, monkeypatch):
    documents, queries = draw(3, n=500)
    documents += documents[:200]  # ties
    index = make(tmp_path / "i", documents)
    index.delete([str(k) for k in range(0, 600, 7)])
    how, touched = bm25.BM25.parse(by), {"pruned": 0, "all": 0}
    exhaustive = _Exhaustive(**dataclasses.asdict(how))
    for name, kind in (("pruned", bm25.BM25), ("all", _Exhaustive)):
        scores = kind.scores

        def counted(self, *arguments, scores=scores, name=name, kind=kind):
            n = scores(self, *arguments)
            touched[name] += n if type(self) is kind else 0
            return n

        monkeypatch.setattr(kind, "scores", counted)
    for query in queries:
        asked = index.query(" ".join(query))
        for k in (1, 3, 20, 1000):
            for where in (None, lambda numbers: numbers % 3 == 0):
                one, two = (index.search(asked, k, by=each, where=where) for each in (how, exhaustive))
                assert one.ids == two.ids
                assert one.scores.tobytes() == two.scores.tobytes()
    assert touched["pruned"] < touched["all"]
    index.close()


def test_a_word_in_a_field_without_weight_adds_nothing_to_a_document_with_another(tmp_path):
    documents = [{"id": "1", "title": "alpha", "text": "beta"}, {"id": "2", "title": "the", "text": "of"}]
    index = Index.create(tmp_path / "i", documents, fields=["title", "text"])
    idf = np.log(1 + 1.5 / 1.5)
    assert index.search("alpha beta", by="bm25(k1=0,fields=title)").scores.tolist() == [pytest.approx(idf)]
    only_stop_words = index.search("the of", by="bm25(b=1,fields=title)")  # the length of document 2 is 0
    assert only_stop_words.scores.tolist() == [pytest.approx(idf * 2.2)]
    index.close()


@pytest.mark.parametrize("by", ["bm25", "ql", "sdm", "rm3", "linear(of=[bm25,ql])", "passages", "bm25(variant=l)"])
def test_more_documents_than_any_number_of_a_machine_may_be_asked_for(tmp_path, by, monkeypatch):
    monkeypatch.setattr(tiers._counter, "always", True)
    index = make(tmp_path / "i", draw(3)[0])
    everything = index.search("w1 w2", len(index), by=by)
    assert index.search("w1 w2", 2**70, by=by).ids == everything.ids
    assert index.search("w1 w2", 2**70, by=by, offset=2**70).ids == []
    index.close()
