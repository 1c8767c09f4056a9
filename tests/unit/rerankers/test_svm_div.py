"""svm-div: the worked numbers, all subsets of few documents, and planted words that tell topics."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

from podium.base.errors import DataError, IncompatibleError, ParameterError
from podium.data.dataset import Dataset
from podium.data.triples import Triples
from podium.rerankers import SvmDiv
from podium.rerankers.svm_div import cover, covered, missed, word_features

WORDS = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1], [0, 1, 1, 1]], np.bool_)
TOPICS = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1]], np.bool_)


def test_the_worked_example_covers_all_words_with_two_documents() -> None:
    features, w = word_features(WORDS, (0.5, 0.25)), np.array([1.0, 0.5])
    assert (features == 1).all()
    chosen = cover(WORDS, features @ w, np.zeros(4), 2)
    assert chosen.tolist() == [3, 0]
    assert covered(WORDS, features, chosen) @ w == 6


def test_the_loss_is_the_share_of_topics_that_are_missed() -> None:
    share = TOPICS.sum(axis=0) / TOPICS.sum()
    pairs = {(a + 1, b + 1): missed(TOPICS, share, np.array([a, b])) for a, b in itertools.combinations(range(4), 2)}
    third = pytest.approx(1 / 3)
    assert pairs == {(1, 2): third, (2, 3): third, (3, 4): third, (1, 3): 0, (1, 4): 0, (2, 4): 0}


def test_the_greedy_set_is_within_its_guarantee_of_the_best_of_all_subsets() -> None:
    rng = np.random.default_rng(0)
    for _ in range(100):
        n, k = int(rng.integers(2, 9)), int(rng.integers(1, 4))
        has, w = rng.random((n, 8)) < 0.3, rng.random(2)
        features = word_features(has, (0.5, 0.25))
        values = [covered(has, features, np.array(y)) @ w for y in itertools.combinations(range(n), min(k, n))]
        greedy = covered(has, features, cover(has, features @ w, np.zeros(n), min(k, n))) @ w
        assert max(values) + 1e-12 >= greedy >= (1 - 1 / math.e) * max(values) - 1e-12


def planted(rng: np.random.Generator, queries: int) -> tuple[Dataset, Triples]:
    """Documents of one topic of five each: three words of the topic, and many words that only one document has."""
    words, topics = [], []
    for _ in range(queries):
        own = [[] for _ in range(20)]
        theirs = rng.permutation(np.repeat(np.arange(5), 4))
        rare = 20
        for d, topic in enumerate(theirs):
            own[d] += [[d, 3 * int(topic) + j, 1.0] for j in range(3)]
            for _ in range(int(rng.integers(0, 40))):
                own[d].append([d, rare, 1.0])
                rare += 1
        words.append([row for part in own for row in part])
        topics.append([[d, int(topic), 1.0] for d, topic in enumerate(theirs)])
    data = Dataset.from_arrays(np.zeros((20 * queries, 1)), qid=np.repeat(np.arange(queries), 20))
    return replace(data, topics=Triples.from_rows(words)), Triples.from_rows(topics)


def topics_missed(order: np.ndarray, topics: Triples, q: int) -> float:
    covers = topics.matrix(q, 20) > 0
    return missed(covers, covers.sum(axis=0) / covers.sum(), order[:5])


def test_it_learns_that_words_of_several_documents_tell_topics() -> None:
    rng = np.random.default_rng(1)
    learned = SvmDiv(size=5).fit(*planted(rng, 20))
    data, topics = planted(rng, 20)
    scores = learned.scores(rng.random(data.n_documents), data).reshape(20, 20)
    assert np.mean([topics_missed(np.argsort(-scores[q]), topics, q) for q in range(20)]) == 0
    assert data.topics is not None
    has = [data.topics.matrix(q, 20) > 0 for q in range(20)]
    equal = [cover(words, np.ones(words.shape[1]), np.zeros(20), 5) for words in has]  # all words count alike
    assert np.mean([topics_missed(order, topics, q) for q, order in enumerate(equal)]) > 0.1


def test_what_cannot_be_learned_from_is_refused() -> None:
    data, topics = planted(np.random.default_rng(2), 2)
    with pytest.raises(DataError, match="needs the words"):
        SvmDiv().fit(replace(data, topics=None), topics)
    with pytest.raises(DataError, match="nothing to learn from"):
        SvmDiv().fit(data, Triples.from_rows([[], []]))
    with pytest.raises(ParameterError, match="size must be at least 1"):
        SvmDiv(size=0)
    with pytest.raises(IncompatibleError, match="needs topics"):
        SvmDiv().fit(data, topics).scores(np.zeros(40), replace(data, topics=None))
