"""Ranking of texts that are not in the index: the features, and so the scores, of the same documents in the index."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import numpy as np
import pytest

import podium
from podium.base.errors import DataError, IncompatibleError, ParameterError
from podium.engine.text_ranker import TextRanker, main_field
from podium.text import Index, dataset, register_feature
from podium.text.features import Feature

WORDS = [
    "heat",
    "slab",
    "flow",
    "wing",
    "shock",
    "wave",
    "layer",
    "cone",
    "jet",
    "drag",
    "gas",
    "tube",
    "a",
    "the",
    "of",
]
TREES = "lambdamart(rounds=1)"
PLAIN = "regression(transform=identity)"
"""A method that takes no missing values."""
ALL = "podium,entropy,word_length,stop_share,stop_cover,sd_t,sd_o,sd_u,log_bm25,edit(of=span)"


@functools.cache
def _index() -> Index:
    rng = np.random.default_rng(3)
    documents = [
        {
            "id": f"d{n}",
            "title": " ".join(rng.choice(WORDS, 4)),
            "text": " ".join(rng.choice(WORDS, rng.integers(1, 60))),
            "year": 1950 + n,
            "url": f"http://a.org/{'x/' * (n % 3)}{n}",
        }
        for n in range(40)
    ]
    index = Index.create(Path(tempfile.mkdtemp()) / "texts.index", documents)
    index.delete(["d7"])
    index.add([{"id": "late", "title": "shock", "text": "the heat of a wall", "year": 2001, "url": "http://b.org"}])
    return index


@functools.cache
def _model(features: str = ALL, method: str = "regression") -> podium.Model:
    queries = [{"id": str(n), "text": " ".join(WORDS[n : n + 3])} for n in range(10)]
    qrels = {query["id"]: {f"d{n}": n % 3 for n in range(8, 40)} for query in queries}
    return podium.train(dataset(_index(), queries, qrels, features=features, depth=20), method)


def _ranker(features: str = ALL, method: str = "regression") -> TextRanker:
    return TextRanker(_index(), _model(features, method))


@pytest.mark.parametrize("query", ["heat flow", "the shock wave of a tube", "of the", "zeppelin drag"])
def test_a_document_of_the_index_given_as_a_text_has_its_features_and_its_score(query: str) -> None:
    ranker = _ranker()
    answer = ranker.engine.search(query, k=20)
    texts = [_index().document(id) for id in answer.ids]
    ranked = ranker.rank(query, texts)
    assert [text.position for text in ranked] == list(range(len(texts)))
    np.testing.assert_array_equal(np.array([text.features for text in ranked]), answer.features)
    np.testing.assert_array_equal([text.score for text in ranked], answer.scores)


def test_every_feature_of_the_catalogue_is_the_same_for_a_text_or_missing() -> None:
    missing = {"inlinks", "outlinks", "pagerank", "authority", "hub", "browserank", "link_share"}
    elsewhere = {"trustrank", "max_entropy_flow", "dot", "vector_cosine", "stored"}  # files, vectors, a field
    names = sorted(
        name
        for name, feature in Feature.catalogue().items()
        if feature.__module__.startswith("podium.text.features") and name not in elsewhere
    )
    ranker = _ranker(",".join(names), TREES)
    answer = ranker.engine.search("heat flow of gas", k=20)
    features = ranker.features("heat flow of gas", [_index().document(id) for id in answer.ids])
    for column, name in enumerate(names):
        if name in missing:
            assert np.isnan(features[:, column]).all(), name
        else:
            np.testing.assert_array_equal(features[:, column], answer.features[:, column], err_msg=name)


def test_the_order_of_texts_does_not_matter() -> None:
    texts = ["heat flow in a tube", "", "gas", "the wall of the tube and heat", "cone " * 40]
    scores = {texts[text.position]: text.score for text in _ranker().rank("heat of the tube", _dated(texts))}
    back = texts[::-1]
    assert {back[text.position]: text.score for text in _ranker().rank("heat of the tube", _dated(back))} == scores


def test_texts_do_not_move_statistics_nor_each_other() -> None:
    alone = _ranker().features("heat flow", _dated(["heat flow in a tube"]))
    others = _dated(["heat flow in a tube", *(f"flow of heat {n} unheard{n}" for n in range(50))])
    np.testing.assert_array_equal(_ranker().features("heat flow", others)[:1], alone)
    np.testing.assert_array_equal(_ranker().features("heat flow", others[:1]), alone)


def test_words_that_the_index_lacks_count_in_lengths() -> None:
    ranker = _ranker("bm25,length,entropy,word_length")
    plain, longer = ranker.features("heat", ["heat", "heat zeppelins xylophone zeppelin"])
    assert plain[1:].tolist() == [1.0, 0.0, 4.0]
    assert longer[1] == 4.0
    assert longer[2] == np.float32(1.5 * np.log(2))  # two of the four words are one term
    assert longer[0] < plain[0]
    assert longer[3] == np.mean([4, 8, 8, 8])  # the stems heat, zeppelin, xylophon, zeppelin


def test_an_empty_text_a_long_one_and_a_thousand() -> None:
    ranker = _ranker("bm25,length,covered_ratio,span,cosine,lsi(rank=5),prf,entropy")
    empty, long = ranker.features("heat flow", ["", "heat of the wall, " * 600_000])
    assert empty[0] == empty[1] == empty[4] == 0.0
    assert np.isfinite(long).all()
    assert long[1] == 1_200_000
    ranked = ranker.rank("heat flow", [f"gas {'heat ' * (n % 7)}{n}" for n in range(1000)], k=10)
    assert len(ranked) == 10
    assert ranker.rank("heat", []) == []


def test_stored_numbers_and_urls_come_from_the_text() -> None:
    ranker = _ranker("bm25,stored(field=year),url_length,url_slashes,child_pages", TREES)
    features = ranker.features("heat", [{"text": "heat", "year": "1999", "url": "http://a.org"}, "heat"])
    assert features[0, 1:].tolist() == [1999.0, 12.0, 0.0, 39.0]
    assert np.isnan(features[1, 1:]).all()


def test_what_a_text_lacks_is_refused_by_name_if_the_model_takes_no_missing_values() -> None:
    with pytest.raises(IncompatibleError, match=r"text 2 lacks the field 'year', .* stored\(field=year\)"):
        _ranker("bm25,stored(field=year)", PLAIN).rank("heat", [{"text": "heat", "year": 1999}, "heat"])
    assert len(_ranker("bm25,stored(field=year)", TREES).rank("heat", ["heat"])) == 1


def test_a_function_sees_the_texts_as_dicts() -> None:
    @functools.partial(register_feature, "letters_of_texts")
    def letters(query, documents, index):
        return [len(document["text"]) for document in documents]

    assert _ranker("bm25,letters_of_texts").features("heat", ["heat", {"text": "12"}])[:, 1].tolist() == [4.0, 2.0]


def test_vectors_of_texts_are_given_or_encoded(tmp_path: Path) -> None:
    documents = [{"id": "a", "text": "heat", "vector": [1, 0]}, {"id": "b", "text": "cold", "vector": [0.6, 0.8]}]
    index = Index.create(tmp_path / "v.index", documents)
    data = dataset(
        index, [{"id": "1", "text": "heat cold", "vector": [1, 1]}], {"1": {"a": 1}}, features="dot,vector_cosine"
    )
    ranker = TextRanker(index, podium.train(data, PLAIN))
    with pytest.raises(IncompatibleError, match="text 1 lacks a vector"):
        ranker.rank("heat", ["heat"], vector=[1, 1])
    given = ranker.features("heat", [{"text": "x", "vector": [0.6, 0.8]}], vector=[1, 1])
    np.testing.assert_allclose(given, [[1.4, 1.4 / np.sqrt(2)]], rtol=1e-6)
    with pytest.raises(DataError, match="text 1: its vector has 3 numbers; those of the index have 2"):
        ranker.rank("heat", [{"text": "x", "vector": [1, 2, 3]}], vector=[1, 1])
    index.encode_with(lambda texts: [[len(text), 0.0] for text in texts])
    assert ranker.features("four", ["three"])[0, 0] == 20.0


def test_a_string_is_the_field_text_or_the_field_with_the_most_words(tmp_path: Path) -> None:
    assert main_field(_index()) == "text"
    index = Index.create(tmp_path / "f.index", [{"id": "a", "name": "tent", "story": "a tent for the rain"}])
    assert main_field(index) == "story"


def test_wrong_texts_are_refused_in_words() -> None:
    ranker = _ranker("bm25")
    with pytest.raises(ParameterError, match="a list of texts is needed"):
        ranker.rank("heat", "heat")
    with pytest.raises(DataError, match="text 2: a text is a string or a dict of fields; got int"):
        ranker.rank("heat", ["heat", 3])  # type: ignore[list-item]
    with pytest.raises(DataError, match="field 'text' must be text; got dict"):
        ranker.rank("heat", [{"text": {}}])
    assert len(ranker.rank("heat \ud800", ["heat \ud800\x00", {"text": ["heat", 3], "title": None}])) == 2


def _dated(texts: list[str]) -> list[dict[str, object]]:
    return [{"text": text, "year": 1990, "url": "http://a.org"} for text in texts]
