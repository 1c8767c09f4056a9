import sqlite3

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.base.errors import DataError, IncompatibleError, ParameterError, UnknownNameError
from podium.text.context import Context
from podium.text.features import Feature
from podium.text.index.encoding import read_vectors
from podium.text.index.index import Index
from podium.text.retrieval import Retrieval
from podium.text.retrieval import dense as vectors
from podium.text.retrieval.filters import make_filter

DOCUMENTS = [
    {"id": "a", "text": "red apple", "vector": [1.0, 0.0], "year": 1990},
    {"id": "b", "text": "green apple", "vector": [2.0, 2.0], "year": 2000},
    {"id": "c", "text": "apple tree", "year": 2010},
    {"id": "d", "text": "grey stone", "vector": [0.0, 0.0], "year": 2020},
    {"id": "e", "text": "red stone", "vector": [-1.0, 0.5], "year": 2030},
]


@pytest.fixture
def index(tmp_path):
    made = Index.create(tmp_path / "my.index", DOCUMENTS)
    yield made
    made.close()


def values(index, name, ids, **query):
    context = Context(index, index.query("apple", **query), index.numbers(ids))
    return Feature.parse(name).values(context).tolist()


def test_features_are_missing_where_a_document_has_no_vector(index):
    found = values(index, "dot", "edcba", vector=[3.0, 4.0])
    assert found == pytest.approx([-1.0, 0.0, np.nan, 14.0, 3.0], nan_ok=True)
    cosines = values(index, "vector_cosine", "edcba", vector=[3.0, 4.0])
    assert cosines == pytest.approx([-0.2 / np.sqrt(1.25), 0.0, np.nan, 1.4 / np.sqrt(2), 0.6], nan_ok=True)
    assert values(index, "vector_cosine", "ab", vector=[0.0, 0.0]) == [0.0, 0.0]


def test_search_by_vectors_finds_the_most_similar(index):
    found = index.search("", k=3, vector=[1.0, 0.2], by="vectors")
    assert found.ids == ["a", "b", "d"]
    assert found.scores == pytest.approx([1 / np.sqrt(1.04), 1.2 / np.sqrt(2.08), 0.0])
    assert index.search("", vector=[1.0, 0.2], by="vectors(similarity=dot)").ids == ["b", "a", "d", "e"]
    late = make_filter(index, ["year>=2000"])
    assert index.search("", vector=[1.0, 0.2], by="vectors", where=late).ids == ["b", "d", "e"]


def test_hybrid_search_adds_reciprocal_ranks(index):
    query = index.query("apple", vector=[1.0, 0.2])
    words, by_vector = index.search(query).ids, index.search(query, by="vectors").ids
    assert (words, by_vector) == (["a", "b", "c"], ["a", "b", "d", "e"])
    expected = {"a": 2 / 61, "b": 2 / 62, "c": 1 / 63, "d": 1 / 63, "e": 1 / 64}
    found = index.search(query, by="hybrid")
    assert dict(zip(found.ids, found.scores.tolist(), strict=True)) == pytest.approx(expected)
    assert found.ids == ["a", "b", "c", "d", "e"]  # c and d are tied
    assert index.search(query, by="hybrid", k=2).ids == ["a", "b"]


@pytest.mark.parametrize("name", ["vectors", "vectors(similarity=dot)", "hybrid(words=ql(mu=1000.0),depth=7)"])
def test_the_name_of_a_retrieval_is_read_back(name):
    assert repr(Retrieval.parse(name)) == name


@settings(max_examples=60)
@given(st.data())
def test_search_is_exact_and_ties_go_to_the_lower_number(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    n, width, k = data.draw(st.integers(1, 60)), data.draw(st.integers(1, 5)), data.draw(st.integers(1, 12))
    X = rng.choice([-1.0, 0.0, 1 / 3, 1.0], (n, width)).astype(np.float32)
    if data.draw(st.booleans()):
        X = (X * 10.0 ** rng.integers(-18, 18, (n, 1))).astype(np.float32)
    known = vectors.Vectors(np.cumsum(rng.integers(1, 3, n)), X, vectors.exact_norms(X))
    query = rng.choice([-1.0, 0.5, 1 / 3], width)
    allowed = rng.random(n) < 0.7
    for how in ("cosine", "dot"):
        exact = (X.astype(np.float64) * query).sum(axis=1)
        if how == "cosine":
            size = np.sqrt((X.astype(np.float64) ** 2).sum(axis=1)) * np.sqrt((query**2).sum())
            exact = np.divide(exact, size, out=np.zeros(n), where=size > 0)
        rows = np.flatnonzero(allowed)
        expected = rows[np.lexsort((rows, -exact[rows]))][:k]
        scores, numbers = vectors.best_of(known, query, k, similarity=how, allowed=allowed, block=7)
        assert numbers.tolist() == known.numbers[expected].tolist()
        assert scores == pytest.approx(exact[expected], rel=1e-12)


@pytest.mark.parametrize("how", ["cosine", "dot"])
def test_search_is_exact_where_single_precision_cannot_tell(how):
    rng = np.random.default_rng(5)
    row = rng.standard_normal(300)
    X = np.stack([rng.permutation(row) for _ in range(200)]).astype(np.float32)
    query = np.ones(300) + 1e-7 * rng.standard_normal(300)
    known = vectors.Vectors(np.arange(200), X, vectors.exact_norms(X))
    exact = (X.astype(np.float64) * query).sum(axis=1) / (
        known.norms * np.sqrt((query**2).sum()) if how == "cosine" else 1
    )
    _, numbers = vectors.best_of(known, query, 5, similarity=how, block=64)
    assert numbers.tolist() == np.argsort(-exact, kind="stable")[:5].tolist()


def test_vectors_may_come_later_and_from_a_file(index, tmp_path):
    np.save(tmp_path / "vectors.npy", np.array([[5.0, 0.0], [0.0, 7.0]]))
    (tmp_path / "ids.txt").write_text("c\na\n")
    assert index.set_vectors(*read_vectors(tmp_path / "vectors.npy", tmp_path / "ids.txt")) == 2
    assert values(index, "dot", "abc", vector=[1.0, 1.0]) == [7.0, 4.0, 5.0]


def test_an_index_with_vectors_can_give_features_of_them(index):
    for name in ("dot", "vector_cosine", "bm25(field=text)", "tf"):
        Feature.parse(name).check(index)
    with pytest.raises(UnknownNameError, match="No field 'body'"):
        Feature.parse("bm25(field=body)").check(index)


def test_deleted_documents_are_not_found(index):
    index.delete(["a"])
    assert index.search("", vector=[1.0, 0.0], by="vectors").ids == ["b", "d", "e"]


@pytest.mark.parametrize(
    ("ids", "given", "message"),
    [
        (["a", "x"], np.ones((2, 2)), "no document 'x', so no vector was stored"),
        (["a", "c"], np.ones((2, 3)), "vectors of 2 and of 3 numbers"),
        (["a"], np.ones((2, 2)), "a row for each of 1 ids"),
        (["a"], [[np.nan, 1.0]], "finite numbers"),
        (["a"], [["x", "y"]], "does not hold numbers"),
        (["a", "a"], np.ones((2, 2)), "there twice"),
    ],
)
def test_vectors_that_do_not_fit_are_an_error_and_change_nothing(index, ids, given, message):
    before = [(n, row.tolist()) for n, row in index.store.vectors()]
    with pytest.raises(DataError, match=message):
        index.set_vectors(ids, given)
    assert [(n, row.tolist()) for n, row in index.store.vectors()] == before


@pytest.mark.parametrize("content", [b"no array", b""])
def test_a_file_that_holds_no_array_is_an_error(tmp_path, content):
    (tmp_path / "vectors.npy").write_bytes(content)
    (tmp_path / "ids.txt").write_text("a\n")
    with pytest.raises(DataError, match=r"not an .npy file"):
        read_vectors(tmp_path / "vectors.npy", tmp_path / "ids.txt")


def test_a_file_must_have_a_row_for_each_id(tmp_path):
    np.save(tmp_path / "vectors.npy", np.ones((2, 2)))
    (tmp_path / "ids.txt").write_text("a\n")
    with pytest.raises(DataError, match=r"a row for each of the 1 ids of .*; got \(2, 2\)"):
        read_vectors(tmp_path / "vectors.npy", tmp_path / "ids.txt")


@pytest.mark.parametrize("name", ["dot", "vector_cosine"])
def test_a_query_without_a_vector_is_an_error(index, name):
    with pytest.raises(DataError, match=f"feature {name} needs the vector of the query 'apple'"):
        values(index, name, "ab")
    with pytest.raises(DataError, match="retrieval vectors needs the vector"):
        index.search("apple", by="hybrid")


def test_a_vector_of_another_width_is_an_error(index):
    with pytest.raises(IncompatibleError, match="has 3 numbers; those of the documents have 2"):
        index.search("apple", vector=[1.0, 2.0, 3.0], by="vectors")
    with pytest.raises(ParameterError, match="a Query has its own vector"):
        index.search(index.query("apple"), vector=[1.0, 2.0], by="vectors")
    with pytest.raises(DataError, match="finite"):
        index.search("apple", vector=[1.0, np.nan], by="vectors")


def test_without_any_vector_there_is_nothing_to_search(tmp_path):
    index = Index.create(tmp_path / "i", [{"id": "a", "text": "x"}])
    with pytest.raises(DataError, match="no document has a vector"):
        index.search("x", vector=[1.0], by="vectors")
    assert np.isnan(values(index, "dot", "a", vector=[1.0])).all()
    with pytest.raises(DataError, match="feature dot: no document has a vector"):
        Feature.parse("dot").check(index)
    index.close()


def lengths(texts):
    return np.array([[len(text), 1.0] for text in texts])


def words(texts):
    return np.array([[len(text.split()), 1.0] for text in texts])


def test_a_function_makes_the_missing_vectors_and_those_of_queries(tmp_path):
    index = Index.create(tmp_path / "i", [{"id": "a", "title": "ab", "text": "cd"}, {"id": "b", "text": "x" * 9}])
    index.set_vectors(["b"], [[0.5, 0.5]])
    with pytest.raises(ParameterError, match="encode_with"):
        index.encode_documents()
    index.encode_with(lengths)
    assert index.encode_documents(batch=1) == 1
    assert [row.tolist() for _, row in index.store.vectors()] == [[5.0, 1.0], [0.5, 0.5]]
    assert index.query("four").vector.tolist() == [4.0, 1.0]
    assert index.query("four", vector=[1, 2]).vector.tolist() == [1.0, 2.0]
    assert index.encode_documents() == 0
    index.close()


def test_a_function_of_another_name_is_an_error(tmp_path):
    with_names = Index.create(tmp_path / "i", [{"id": "a", "text": "x"}])
    with_names.encode_with(lengths)
    with_names.encode_documents()
    with_names.close()
    index = Index.open(tmp_path / "i")
    with pytest.raises(IncompatibleError, match="made by 'lengths', not by 'words'"):
        index.encode_with(words)
    index.encode_with(words, name="lengths")
    index.close()


def test_a_function_that_fails_leaves_nothing_behind(tmp_path):
    index = Index.create(tmp_path / "i", [{"id": k, "text": "x"} for k in range(5)])
    done = []

    def fails(texts):
        done.append(texts)
        if len(done) == 3:
            raise RuntimeError("out of memory")
        return np.ones((len(texts), 2))

    index.encode_with(fails)
    with pytest.raises(RuntimeError, match="out of memory"):
        index.encode_documents(batch=2)
    index.close()
    with sqlite3.connect(tmp_path / "i") as base:
        assert base.execute("SELECT count(*) FROM vector").fetchone() == (0,)
    base.close()
