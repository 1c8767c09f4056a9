"""Functions of the texts of query and document as features: scores on disk, in batches, and never computed twice."""

import sqlite3

import numpy as np
import pytest

import podium
from podium.base.errors import DataError
from podium.text import Index, dataset, register_pair_feature
from podium.text.features.pair_scores import Scores

DOCUMENTS = [{"id": f"d{n}", "title": "heat", "text": "wall " * n} for n in range(1, 6)]


class Counted:
    """A function that counts the texts it has scored, and fails after some."""

    def __init__(self, most=10**9):
        self.batches, self.most = [], most

    def __call__(self, query, texts):
        if sum(map(len, self.batches)) + len(texts) > self.most:
            raise RuntimeError("interrupted")
        self.batches.append(list(texts))
        return [len(query) + len(text) / 10 for text in texts]


@pytest.fixture
def index(tmp_path):
    index = Index.create(tmp_path / "my.index", DOCUMENTS)
    yield index
    index.close()


def test_a_function_is_a_feature_whose_scores_are_computed_once(index, tmp_path):
    function = Counted()
    register_pair_feature("pair_length", function, version=3, cache=tmp_path / "scores.db", batch=2)
    queries, qrels = [{"id": "1", "text": "heat"}], {"1": {"d1": 1}}
    data = dataset(index, queries, qrels, features="bm25,pair_length_v3")
    assert [len(batch) for batch in function.batches] == [2, 2, 1]
    assert sorted(data.features[:, 1].tolist()) == pytest.approx([4 + (5 + 5 * n) / 10 for n in range(1, 6)])
    dataset(index, queries, qrels, features="bm25,pair_length_v3")
    model = podium.train(data, "regression")
    assert len(podium.Engine(index, model).search("heat").ids) == 5
    assert len(function.batches) == 3
    podium.TextRanker(index, model).rank("heat", ["new", "new"])
    assert len(function.batches) == 4


def test_what_is_interrupted_goes_on_and_a_changed_text_is_scored_again(tmp_path):
    ids, texts = [f"d{n}" for n in range(6)], ["x" * n for n in range(6)]
    with pytest.raises(RuntimeError, match="interrupted"):
        Scores("f_v1", Counted(4), tmp_path / "s.db", batch=2).of("q", ids, texts)
    rest = Counted()
    np.testing.assert_allclose(
        Scores("f_v1", rest, tmp_path / "s.db", batch=2).of("q", ids, texts), 1 + np.arange(6) / 10
    )
    assert rest.batches == [["xxxx", "xxxxx"]]
    for name, query, changed in (("f_v1", "q", ["y", *texts[1:]]), ("f_v1", "other", texts), ("f_v2", "q", texts)):
        again = Counted()
        Scores(name, again, tmp_path / "s.db", batch=9).of(query, ids, changed)
        assert len(again.batches[0]) == (1 if changed[0] == "y" else 6)


@pytest.mark.parametrize(("values", "words"), [([1.0], r"shape \(1,\)"), ([np.nan, 1.0], "not finite")])
def test_other_than_a_finite_number_for_each_text_is_refused_and_not_kept(tmp_path, values, words):
    with pytest.raises(DataError, match=words):
        Scores("f_v1", lambda query, texts: values, tmp_path / "s.db", batch=2).of("q", ["a", "b"], ["a", "b"])
    fine = Counted()
    Scores("f_v1", fine, tmp_path / "s.db", batch=2).of("q", ["a", "b"], ["a", "b"])
    assert len(fine.batches) == 1


def test_a_foreign_or_damaged_file_is_refused_in_words(tmp_path):
    (tmp_path / "text.db").write_text("not a database at all, but long enough to look like one" * 50)
    base = sqlite3.connect(tmp_path / "other.db")
    base.execute("CREATE TABLE score(a)")
    base.close()
    for file in ("text.db", "other.db"):
        with pytest.raises(DataError, match="not a podium cache of scores"):
            Scores("f_v1", Counted(), tmp_path / file, batch=2).of("q", ["a"], ["a"])
