"""svm-div: the worked numbers, all subsets of few documents, and planted words that tell topics."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from typer.testing import CliRunner

import podium
from podium.algorithms import SvmDiv
from podium.algorithms.svm_div import cover, covered, missed, word_features, words_of
from podium.base.errors import DataError, IncompatibleError, ParameterError
from podium.cli.main import app
from podium.data.dataset import Dataset
from podium.data.triples import Triples
from podium.formats import write_letor
from podium.model import Model

WORDS = np.array([[1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1], [0, 1, 1, 1]], np.bool_)
TOPICS = np.array([[1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1]], np.bool_)


def test_the_worked_example_covers_all_words_with_two_documents() -> None:
    features, w = word_features(WORDS, (0.5, 0.25)), np.array([1.0, 0.5])
    assert (features == 1).all()
    chosen = cover(WORDS, features @ w, 2)
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
        greedy = covered(has, features, cover(has, features @ w, min(k, n))) @ w
        assert max(values) + 1e-12 >= greedy >= (1 - 1 / math.e) * max(values) - 1e-12


def planted(rng: np.random.Generator, queries: int, *, sparse: bool = False) -> Dataset:
    """Documents of one topic of five each: three words of the topic, and many words that only one document has."""
    counts, topics = np.zeros((20 * queries, 15 + 20 * 40), np.float32), []
    for q in range(queries):
        theirs = rng.permutation(np.repeat(np.arange(5), 4))
        rare = 15
        for d, topic in enumerate(theirs):
            counts[20 * q + d, 3 * topic : 3 * topic + 3] = rng.integers(1, 4, 3)
            several = int(rng.integers(0, 40))
            counts[20 * q + d, rare : rare + several] = 1
            rare += several
        topics.append([[d, int(topic), 1.0] for d, topic in enumerate(theirs)])
    X = sp.csr_array(counts) if sparse else counts
    data = Dataset.from_arrays(X, np.ones(20 * queries), qid=np.repeat(np.arange(queries), 20)).grouped()
    return replace(data, topics=Triples.from_rows(topics))


def topics_missed(order: np.ndarray, data: Dataset, q: int) -> float:
    assert data.topics is not None
    covers = data.topics.matrix(q, 20) > 0
    return missed(covers, covers.sum(axis=0) / covers.sum(), order[:5])


@pytest.mark.parametrize("sparse", [False, True])
def test_it_learns_that_words_of_several_documents_tell_topics(sparse: bool) -> None:
    rng = np.random.default_rng(1)
    model = podium.train(planted(rng, 20, sparse=sparse), "svm-div(size=5)")
    data = planted(rng, 20, sparse=sparse)
    scores = model.score(replace(data, topics=None)).reshape(20, 20)
    assert (np.sort(scores, axis=1) == np.arange(1, 21)).all()
    assert np.mean([topics_missed(np.argsort(-scores[q]), data, q) for q in range(20)]) == 0
    has = [words_of(data.features[20 * q : 20 * q + 20]) for q in range(20)]
    equal = [cover(words, np.ones(words.shape[1]), 5) for words in has]  # all words count alike
    assert np.mean([topics_missed(order, data, q) for q, order in enumerate(equal)]) > 0.1


def test_files_are_trained_on_ranked_and_evaluated_from_the_command_line(tmp_path) -> None:
    rng = np.random.default_rng(2)
    for name in ("train.txt", "test.txt"):
        data = replace(planted(rng, 10), document_ids=np.array([f"d{row}" for row in range(200)], object))
        write_letor(data, tmp_path / name)
    (tmp_path / "judged").write_bytes((tmp_path / "test.txt.topics").read_bytes())
    (tmp_path / "test.txt.topics").unlink()
    train, test, model, run = (str(tmp_path / name) for name in ("train.txt", "test.txt", "m.podium", "test.run"))
    for command in (
        ["train", train, "--method", "svm-div(size=5)", "-o", model],
        ["rank", model, test, "--format", "trec", "-o", run],
    ):
        result = CliRunner().invoke(app, command)
        assert result.exit_code == 0, result.output
    result = CliRunner().invoke(app, ["evaluate", str(tmp_path / "judged"), run, "-m", "s-recall@5"])
    assert "1.0000" in result.output, result.output


def test_a_query_of_more_than_100_documents_keeps_the_rest_in_order() -> None:
    data = planted(np.random.default_rng(3), 3)
    model = podium.train(data, "svm-div")
    rng = np.random.default_rng(0)
    long = Dataset.from_arrays((rng.random((130, data.n_features)) < 0.05).astype(float)).grouped()
    scores = model.score(long)
    rest = np.flatnonzero(scores <= 30)
    assert (np.diff(scores[rest]) < 0).all()
    assert np.array_equal(np.sort(scores), np.arange(1, 131))


def test_what_cannot_be_learned_from_is_refused(tmp_path) -> None:
    data = planted(np.random.default_rng(2), 2)
    with pytest.raises(IncompatibleError, match=r"judged topics.*<data>\.topics"):
        podium.train(replace(data, topics=None), "svm-div")
    with pytest.raises(DataError, match="nothing to learn from"):
        podium.train(replace(data, topics=Triples.from_rows([[], []])), "svm-div")
    with pytest.raises(DataError, match="nothing to learn from"):
        podium.train(data.with_features(np.zeros_like(data.features), None), "svm-div")
    with pytest.raises(ParameterError, match="size must be at least 1"):
        SvmDiv(size=0)
    with pytest.raises(ParameterError, match="bands must not be empty"):
        SvmDiv(bands=())


def test_a_saved_model_ranks_alike(tmp_path) -> None:
    data = planted(np.random.default_rng(4), 4)
    model = podium.train(data, "svm-div(bands=[0.1,0.5])")
    model.save(tmp_path / "m.podium")
    np.testing.assert_array_equal(Model.load(tmp_path / "m.podium").score(data), model.score(data))
