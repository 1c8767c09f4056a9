"""Snippets and their marks."""

import numpy as np
import pytest

from podium.text import snippets
from podium.text.index.index import Index
from podium.text.snippets import mark, sentences, snippet


@pytest.fixture
def index(tmp_path):
    text = "Nothing here. Heat flows through slabs of steel! The end of it. Slabs are heated again."
    documents = [{"id": "a", "title": "Heat", "text": text}, {"id": "b", "title": "Cold", "text": "東京都の天気"}]
    made = Index.create(tmp_path / "x.index", documents)
    yield made
    made.close()


def test_sentences_end_at_stops_and_blank_lines():
    assert sentences("One. Two! Three?\n\nA heading\n\nFour v. 2") == [
        "One.",
        "Two!",
        "Three?",
        "A heading",
        "Four v.",
        "2",
    ]
    assert sentences("今日。明日") == ["今日。", "明日"]


def test_the_best_sentences_come_in_the_order_of_the_document_with_matches_marked(index):
    found = snippet(index, index.query("heated slabs"), index.document("a"))
    assert found.marked("[", "]") == "[Heat] flows through [slabs] of steel! … [Slabs] are [heated] again."


def test_a_sentence_that_is_repeated_is_shown_once(index):
    found = snippet(index, index.query("slabs"), {"text": "Hot slabs. Cold water. Hot slabs."})
    assert found.text == "Hot slabs."


def test_characters_that_are_not_seen_cut_no_mark(index):
    text = "Slabs\u200cof and sla\u00adbs, sl\u200bab."
    assert mark(index, index.query("slabs"), text).marked("[", "]") == "Slabs\u200cof and [sla\u00adbs], sl\u200bab."


def test_without_a_match_the_first_sentences_are_shown(index):
    found = snippet(index, index.query("nowhere"), index.document("a"), most=1)
    assert (found.text, found.marks) == ("Nothing here.", ())


def test_a_model_may_rank_sentences(index):
    def last(query, found):
        return range(len(found))

    assert snippet(index, index.query("heat"), index.document("a"), most=1, rank=last).text == "Slabs are heated again."


def test_marks_of_scripts_without_blanks_are_joined(index):
    assert mark(index, index.query("東京都"), "東京都の天気").marked("[", "]") == "[東京都]の天気"


def test_long_sentences_are_cut_around_the_match(index):
    text = "word " * 200 + "slabs " + "word " * 200
    found = snippet(index, index.query("slabs"), {"text": text})
    assert len(found.text) < 320
    assert "slabs" in found.text
    assert found.text.startswith("… ")


def test_only_the_beginning_of_a_book_is_read(index, monkeypatch):
    lengths = []
    monkeypatch.setattr(snippets, "sentences", lambda text: lengths.append(len(text)) or sentences(text))
    text = "Nothing here. Slabs are hot. " + "word " * 100_000 + "Slabs of heat."
    assert snippet(index, index.query("slabs heat"), {"text": text}, most=1).text == "Slabs are hot."
    assert max(lengths) == 50_000
    snippet(index, index.query("slabs"), {"text": text}, among=20)
    assert lengths[-1] == 50_000
    snippet(index, index.query("slabs"), {"text": text}, among=1000)
    assert lengths[-1] == 1000


def test_sentences_are_ranked_by_bm25_of_the_document_with_the_idf_of_the_collection(index):
    texts = ["Slabs of heat and slabs.", "Nothing here.", "Heat flows through cold slabs of steel.", ""]
    query = index.query("heat slabs slabs steel nowhere")
    idf = {"heat": np.log(1 + (2 - 1 + 0.5) / 1.5), "slab": 2 * np.log(1 + 1.5 / 1.5), "steel": np.log(1 + 1.5 / 1.5)}
    counts = [{"slab": 2, "heat": 1}, {}, {"heat": 1, "slab": 1, "steel": 1}, {}]
    lengths = np.array([len(index.analyser.words(text)) or 1 for text in texts])
    norms = 1.2 * (0.25 + 0.75 * lengths / lengths.mean())
    expected = [
        sum(idf[t] * n * 2.2 / (n + norm) for t, n in of.items()) for of, norm in zip(counts, norms, strict=True)
    ]
    assert snippets._bm25(index, query, texts) == pytest.approx(expected)
    assert snippets._bm25(index, index.query("nowhere"), texts).tolist() == [0.0] * 4
