"""Stages: lists joined as by hand, from the full rankings of their parts."""

import numpy as np
import pytest

import podium
from podium.base.errors import ParameterError
from podium.text.index.index import Index
from podium.text.retrieval import Retrieval
from podium.text.retrieval.candidates import dataset
from podium.text.stages.weighted_sum import WeightedSum, normalised

WORDS = [f"w{k}" for k in range(25)]
PARTS = ["bm25", "ql(mu=20.0)", "vectors"]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    rng = np.random.default_rng(2)
    rows = [
        {"id": str(k), "title": " ".join(rng.choice(WORDS, 3)), "text": " ".join(rng.choice(WORDS, rng.integers(1, 9)))}
        for k in range(60)
    ]
    index = Index.create(tmp_path_factory.mktemp("stages") / "i", rows[:35])
    index.add(rows[35:])
    index.set_vectors([row["id"] for row in rows[:50]], rng.integers(-2, 3, (50, 3)).astype(np.float32))
    index.delete(["7"])
    yield index
    index.close()


VECTOR = [1.0, -1.0, 2.0]


def ranking(index, by, k=1000):
    hits = index.search("w1 w2 w3", k, by=by, vector=VECTOR)
    return dict(zip(hits.numbers.tolist(), hits.scores.tolist(), strict=True))


def ordered(scores, k):
    return dict(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0]))[:k])


def same(found, expected):
    assert list(found) == list(expected)
    assert list(found.values()) == pytest.approx(list(expected.values()), rel=1e-12, abs=1e-15)


def test_rrf_of_words_and_vectors_is_hybrid_to_the_bit(index):
    one, two = (ranking(index, by, 30) for by in ("rrf(of=[bm25,vectors])", "hybrid"))
    assert one == two
    assert list(one) == list(two)


@pytest.mark.parametrize("k", [5, 30])
def test_rrf_sums_reciprocal_ranks(index, k):
    scores = {}
    for part in PARTS:
        for rank, n in enumerate(ranking(index, part, max(k, 10)), 1):
            scores[n] = scores.get(n, 0) + 1 / (5 + rank)
    same(ranking(index, f"rrf(of=[{','.join(PARTS)}],k=5.0,depth=10)", k), ordered(scores, k))


@pytest.mark.parametrize("how", ["minmax", "zscore", "max", "none"])
def test_linear_sums_normalised_scores(index, how):
    scores, k = {}, 12
    for part, weight in zip(PARTS, (0.5, 2.0, -1.0), strict=True):
        found = ranking(index, part, 20)
        x = np.array(list(found.values()))
        ways = {
            "minmax": lambda x: (x - x.min()) / (x.max() - x.min()), "zscore": lambda x: (x - x.mean()) / x.std(),
            "max": lambda x: x / np.abs(x).max(), "none": lambda x: x,
        }  # fmt: skip
        for n, value in zip(found, ways[how](x), strict=True):
            scores[n] = scores.get(n, 0) + weight * value
    by = f"linear(of=[{','.join(PARTS)}],weights=[0.5,2.0,-1.0],normalise={how},depth=20)"
    same(ranking(index, by, k), ordered(scores, k))


def test_lists_of_equal_scores_are_normalised_without_a_division_by_0():
    same_scores = np.full(3, 2.5)
    assert normalised(same_scores, "minmax").tolist() == [1, 1, 1]
    assert normalised(same_scores, "zscore").tolist() == [0, 0, 0]
    assert normalised(np.zeros(2), "max").tolist() == [0, 0]
    assert len(normalised(np.empty(0), "minmax")) == 0


class Fixed(Retrieval):
    """Documents with these scores, whatever is asked."""

    def __init__(self, scores):
        self.scores = scores

    def best(self, index, query, k, where):
        return np.array(list(self.scores.values())), np.array(list(self.scores))


def test_pyterriers_documented_example_of_a_sum():
    """2 · DPH + BM25, where BM25 lacks the third document."""
    both = WeightedSum(
        of=(Fixed({1: 3.0, 2: 0.0, 3: 1.0}), Fixed({1: 2.0, 2: 3.0})), weights=(2.0, 1.0), normalise="none"
    )
    scores, numbers = both.best(None, None, 10, None)
    assert (scores.tolist(), numbers.tolist()) == ([8, 3, 2], [1, 2, 3])


def test_either_has_the_documents_of_all_by_their_best_rank(index):
    scores = {}
    for part in PARTS[1:]:
        for rank, n in enumerate(ranking(index, part, 9), 1):
            scores[n] = max(scores.get(n, 0), 1 / rank)
    same(ranking(index, "either(of=[ql(mu=20.0),vectors])", 9), ordered(scores, 9))


def test_both_has_what_all_have_with_the_first_scores(index):
    first, second = ranking(index, "bm25", 15), ranking(index, "vectors", 15)
    expected = {n: score for n, score in first.items() if n in second}
    assert expected
    same(ranking(index, "both(of=[bm25,vectors],depth=15)", 10), ordered(expected, 10))


def test_cut_and_then(index):
    first = ranking(index, "bm25", 8)
    same(ranking(index, "cut(of=bm25,k=8)"), first)
    second = {n: score for n, score in ranking(index, "vectors").items() if n in first}
    assert 0 < len(second) < 8  # one has no vector
    same(ranking(index, "then(of=bm25,by=vectors,k=8)"), second)


def test_a_stage_sees_filters(index):
    odd = lambda numbers: numbers % 2 == 1  # noqa: E731
    for by in ("linear(of=[bm25,ql])", "then(of=bm25,by=ql)", "rrf(of=[bm25,rm3])", "both(of=[bm25,ql])", "cut"):
        numbers = index.search("w1 w2", 50, by=by, where=odd).numbers
        assert len(numbers)
        assert (numbers % 2 == 1).all()


@pytest.mark.parametrize(
    "by",
    [
        "linear(of=[rrf(of=[cut(of=bm25(k1=0.9),k=7),ql]),vectors],weights=[0.7,0.3],normalise=zscore)",
        "then(of=either(of=[bm25,sdm]),by=rm3(of=ql(mu=50.0),by=exp))",
    ],
)
def test_stages_within_stages_are_parsed_and_printed_back(index, by):
    how = Retrieval.parse(by)
    assert Retrieval.parse(repr(how)) == how
    assert repr(how) == by
    assert ranking(index, by)


@pytest.mark.parametrize(
    "by", ["linear", "rrf", "either(of=[])", "both", "linear(of=[bm25],weights=[1,2])", "cut(k=0)", "with-model",
           "linear(of=[bm25],weights=[1e9])", "linear(of=[bm26])"],
)  # fmt: skip
def test_stages_that_cannot_be_are_refused(by):
    with pytest.raises(ParameterError):
        Retrieval.parse(by)


def test_a_model_ranks_what_any_stage_returns(index, tmp_path):
    queries = [{"id": str(k), "text": f"w{k} w{k + 1}"} for k in range(6)]
    qrels = {str(k): {str(3 * k): 1, str(3 * k + 1): 1} for k in range(6)}
    model = podium.train(dataset(index, queries, qrels, features="bm25,length", depth=30), "regression")
    model.save(tmp_path / "m.podium")
    engine = podium.Engine(index, model, depth=20)
    found = index.search("w1 w2", 7, by=f"with-model(of=bm25,model={tmp_path / 'm.podium'},k=20)")
    assert found.ids == engine.search("w1 w2", 7).ids
    nested = ranking(index, f"rrf(of=[with-model(of=ql,model={tmp_path / 'm.podium'}),bm25])", 9)
    assert len(nested) == 9
