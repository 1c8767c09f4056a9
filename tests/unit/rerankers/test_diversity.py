"""Re-rankers against examples worked by hand, enumeration, and the ends of their trades."""

import numpy as np
import pytest

from podium.base.errors import DataError, IncompatibleError
from podium.data.dataset import Dataset
from podium.data.triples import Triples
from podium.rerankers import MMR, PM2, QueryView, XQuAD
from podium.testing.rerankers import example

RELEVANCE = np.array([1.0, 0.9, 0.6, 0.3])
TOPICS = np.array([[0.9, 0, 0], [0.8, 0, 0], [0, 0.6, 0], [0, 0.2, 0.5]])
LINKS = np.zeros((4, 4))
LINKS[0, 1], LINKS[2, 3], LINKS[0, 2], LINKS[1, 2] = 0.9, 0.5, 0.1, 0.1
QUERY = QueryView(np.zeros((4, 1)), TOPICS, LINKS)


def worths(reranker):
    """The worth of each chosen document when it was chosen, recomputed from the formula."""
    chosen, found = reranker.choose(RELEVANCE, QUERY, 4).tolist(), []
    seats = np.zeros(3)
    for k, d in enumerate(chosen):
        above = chosen[:k]
        if reranker.name == "mmr":
            similar = max((max(LINKS[d, s], LINKS[s, d]) for s in above), default=0.0)
            found.append(0.7 * RELEVANCE[d] - 0.3 * similar)
        elif reranker.name == "xquad":
            rest = np.prod([1 - TOPICS[s] for s in above], axis=0) if above else np.ones(3)
            found.append(0.2 * RELEVANCE[d] + 0.8 * float((TOPICS[d] * rest).sum() / 3))
        else:
            found.append(float((0.5 / 3 / (2 * seats + 1) * TOPICS[d]).sum()))
            seats += TOPICS[d] / TOPICS[d].sum()
    return [d + 1 for d in chosen], found, seats


def test_the_worked_example_of_mmr():
    order, worth, _ = worths(MMR())
    assert order == [1, 3, 2, 4]
    assert worth == pytest.approx([0.70, 0.39, 0.36, 0.06])


def test_the_worked_example_of_xquad():
    order, worth, _ = worths(XQuAD())
    assert order == [1, 3, 4, 2]
    assert worth == pytest.approx([0.44, 0.28, 0.2147, 0.2013], abs=5e-5)


def test_the_worked_example_of_pm2():
    order, worth, seats = worths(PM2())
    assert order == [1, 4, 3, 2]
    assert worth == pytest.approx([0.15, 0.1167, 0.0636, 0.0444], abs=5e-5)
    assert seats == pytest.approx([2, 1.2857, 0.7143], abs=5e-5)


@pytest.mark.parametrize("reranker", [MMR(trade=1.0), XQuAD(trade=0.0)], ids=repr)
def test_at_the_end_of_relevance_the_order_stays(reranker):
    data, scores = example(np.random.default_rng(4))
    new = reranker.scores(scores, data)
    for a, b in zip(data.offsets[:-1], data.offsets[1:], strict=True):
        assert (np.argsort(-new[a:b]) == np.argsort(-scores[a:b])).all()


def test_beyond_the_depth_documents_follow_by_score():
    order = MMR(depth=2).order(RELEVANCE, QUERY)
    assert order[:2].tolist() == MMR().order(RELEVANCE, QUERY)[:2].tolist()
    assert (np.diff(RELEVANCE[order[2:]]) < 0).all()


def test_grades_become_probabilities_below_one_and_probabilities_stay():
    """A grade of 1 must not cover a topic for ever, so it is divided by the largest grade and one."""

    def scored(grades):
        data = Dataset(np.zeros((3, 1), np.float32), None, np.array([0, 3]),
                       topics=Triples.from_rows([[[d, 0, g] for d, g in enumerate(grades)]]))  # fmt: skip
        return XQuAD(trade=1.0).scores([0.1, 0.2, 0.0], data).tolist()

    assert scored([1.0, 2.0, 0.0]) == [2.0, 3.0, 1.0]
    assert scored([0.3, 0.25, 0.9]) == [2.0, 1.0, 3.0]


def test_without_topics_those_that_need_them_say_so():
    data = Dataset(np.zeros((2, 1), np.float32), None, np.array([0, 2]))
    for reranker in (XQuAD(), PM2()):
        with pytest.raises(IncompatibleError, match=r"needs topics of the documents.*\.topics"):
            reranker.scores([1.0, 2.0], data)
    with pytest.raises(DataError, match="3 scores for 2 documents"):
        MMR().scores([1.0, 2.0, 3.0], data)


def test_copies_move_down_though_features_are_missing_or_constant():
    X = np.array([[1, 2, 7], [1, 2, 7], [5, np.nan, 7], [0, 9, 7]], np.float32)
    data = Dataset(X, None, np.array([0, 4]))
    assert MMR(trade=0.5).scores([1.0, 0.9, 0.5, 0.4], data)[1] == 1.0
