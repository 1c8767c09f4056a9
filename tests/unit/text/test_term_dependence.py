"""Term dependence: worked numbers, pairs of words, and the first stage sdm."""

import numpy as np
import pytest

from podium.text.analyser import Analyser
from podium.text.context import Context
from podium.text.features import Feature
from podium.text.index.index import Index
from podium.text.word_pairs import PHRASE, pair_counts

TEXTS = {
    "1": "red apple tree red",
    "2": "apple pie red cherry apple red",
    "3": "tree house",
    "4": "apple red",
}
WORKED = {
    "sd_t(mu=10)": (-2.210536, -2.247076, -2.647025, -2.100061),
    "sd_o(mu=10)": (-2.100061, -3.109061, -2.821379, -2.821379),
    "sd_u(mu=10)": (-1.289131, -1.192138, -1.435085, -1.134980),
}


@pytest.fixture
def index(tmp_path):
    index = Index.create(
        tmp_path / "i", [{"id": id, "text": text} for id, text in TEXTS.items()], fields=["text"],
        analyser=Analyser(stem=False),
    )  # fmt: skip
    yield index
    index.close()


def values(index, feature, query):
    return Feature.parse(feature).values(Context(index, index.query(query), index.numbers(list(TEXTS))))


@pytest.mark.parametrize("name", WORKED)
def test_the_worked_numbers_to_their_digits(index, name):
    assert values(index, name, "red apple") == pytest.approx(WORKED[name], abs=5e-7)


@pytest.mark.parametrize(
    ("words", "pair", "window", "matches"),
    [
        ("aba", "ab", 8, 1), ("bab", "ab", 8, 1), ("abab", "ab", 8, 2), ("aab", "ab", 8, 1), ("abb", "ab", 2, 1),
        ("a......b", "ab", 8, 1), ("a.......b", "ab", 8, 0), ("b......a", "ab", 8, 1), ("aaa", "aa", 8, 1),
        ("aba", "ab", PHRASE, 1), ("bab", "ab", PHRASE, 1), ("ba", "ab", PHRASE, 0), ("aaa", "aa", PHRASE, 1),
        ("a.b", "ab", PHRASE, 0), ("", "ab", 8, 0),
    ],
)  # fmt: skip
def test_matches_are_counted_from_left_to_right_without_overlap(words, pair, window, matches):
    tokens, bounds = np.array([ord(word) for word in words], np.int32), np.array([[0, len(words)]])
    counts = pair_counts(tokens, bounds, np.array([[ord(word) for word in pair]], np.int32), window)
    assert counts.ravel().tolist() == [matches, matches]


@pytest.mark.parametrize("name", ["sd_o", "sd_u", "sd_u(pairs=all)"])
def test_queries_of_one_word_have_no_pairs(index, name):
    assert values(index, name, "red").tolist() == [0, 0, 0, 0]
    assert values(index, name, "red unseen").tolist() == [0, 0, 0, 0]


def test_a_pair_that_no_document_has_is_left_out(index):
    assert values(index, "sd_o", "house pie").tolist() == [0, 0, 0, 0]
    assert values(index, "sd_u", "house pie").tolist() == [0, 0, 0, 0]
    assert values(index, "sd_o", "red apple pie") == pytest.approx(
        values(index, "sd_o", "red apple") + values(index, "sd_o", "apple pie"), rel=1e-12
    )


def test_all_pairs_add_those_that_are_not_adjacent(index):
    total = sum(values(index, "sd_u", query) for query in ("red apple", "apple tree", "red tree"))
    assert values(index, "sd_u(pairs=all)", "red apple tree") == pytest.approx(total, rel=1e-12)


def test_the_order_of_words_matters_to_phrases_alone(index):
    assert values(index, "sd_u", "apple red") == pytest.approx(values(index, "sd_u", "red apple"), abs=0)
    assert not np.allclose(values(index, "sd_o", "apple red"), values(index, "sd_o", "red apple"))


def test_the_first_stage_is_the_mixture_of_the_three_features_less_a_constant(index):
    hits = index.search("red apple", by="sdm(mu=10,pair_mu=10)")
    mixture = sum(
        share * values(index, name, "red apple") for share, name in zip((0.85, 0.10, 0.05), WORKED, strict=True)
    )
    expected = dict(zip(TEXTS, mixture, strict=True))
    assert sorted(hits.ids) == ["1", "2", "4"]
    assert hits.ids == sorted(hits.ids, key=lambda id: -expected[id])
    differences = [score - expected[id] for id, score in zip(hits.ids, hits.scores, strict=True)]
    assert differences == pytest.approx([differences[0]] * 3, abs=1e-12)


def test_the_first_stage_sees_no_deleted_document_and_keeps_to_filters(index):
    index.delete(["4"])
    index.add([{"id": "5", "text": "red apple"}])
    assert set(index.search("red apple", by="sdm").ids) == {"1", "2", "5"}
    keep = index.numbers(["2"])
    assert index.search("red apple", by="sdm", where=lambda numbers: np.isin(numbers, keep)).ids == ["2"]
    assert index.search("red apple", 1, by="sdm").ids == index.search("red apple", by="sdm").ids[:1]


@pytest.mark.parametrize("query", ["", "unseen", "the"])
def test_the_first_stage_has_no_hit_for_words_that_no_document_has(index, query):
    assert index.search(query, by="sdm").ids == []


def test_the_shares_decide(index):
    phrases = index.search("red apple", by="sdm(terms=0,phrases=1,windows=0,pair_mu=10)")
    assert phrases.ids[0] == "1"
    words = index.search("red apple", by="sdm(terms=1,phrases=0,windows=0,mu=10)")
    likelihood = index.search("red apple", by="ql(mu=10)")
    assert words.ids == likelihood.ids
    assert words.scores == pytest.approx(likelihood.scores, rel=1e-12)
