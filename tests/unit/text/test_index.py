"""Index: create, open, add, delete, search."""

import threading

import numpy as np
import pytest

from podium.base.errors import DataError, IndexFileError, ParameterError
from podium.text.analyser import Analyser
from podium.text.index.index import Index


def make(path, *texts, **more):
    return Index.create(path, [{"id": str(k), "text": text} for k, text in enumerate(texts)], **more)


def test_an_index_of_no_documents(tmp_path):
    index = Index.create(tmp_path / "i")
    assert len(index) == 0
    assert index.search("anything").ids == []
    assert index.ids(np.empty(0, np.int64)) == []
    assert index.fields == ("title", "text")
    index.close()
    index = Index.open(tmp_path / "i")
    index.add([{"id": "a", "text": "now"}])
    assert index.search("now").ids == ["a"]
    index.close()


def test_empty_documents_are_there_and_never_found(tmp_path):
    index = make(tmp_path / "i", "", "the", "word")
    assert len(index) == 3
    assert index.search("word", k=9).ids == ["2"]
    assert index.document("0") == {"id": "0", "text": ""}
    index.close()


def test_all_documents_empty(tmp_path):
    index = make(tmp_path / "i", "", "", fields=["text"])
    assert index.search("word").ids == []
    index.close()


def test_a_query_of_stop_words_alone_uses_them(tmp_path):
    index = make(tmp_path / "i", "to be or not to be", "to do", "nothing here")
    assert index.search("to be").ids == ["0", "1"]
    assert index.search("to be nowhere").ids == []
    index.close()
    stops = make(tmp_path / "stops", "the of", "the the")
    assert set(stops.search("the").ids) == {"0", "1"}
    stops.close()


def test_ties_go_to_the_document_that_was_added_first(tmp_path):
    index = make(tmp_path / "i", *["same words"] * 30)
    assert index.search("same", k=7).ids == [str(k) for k in range(7)]
    index.add([{"id": "later", "text": "same words"}])
    assert index.search("same", k=31).ids[-1] == "later"
    index.close()


@pytest.mark.slow
@pytest.mark.parametrize("batch", [1, 7, 40])
def test_batches_do_not_change_a_bit(tmp_path, batch):
    rng = np.random.default_rng(5)
    texts = [" ".join(rng.choice([f"w{k}" for k in range(30)], rng.integers(0, 12))) for _ in range(40)]
    documents = [{"id": str(k), "text": text, "title": text[:5]} for k, text in enumerate(texts)]
    whole = Index.create(tmp_path / "whole", documents)
    index = Index.create(tmp_path / "i", documents[:batch])
    for first in range(batch, 40, batch):
        index.add(documents[first : first + batch])
    for by in ("bm25", "bm25(k1=0.9,b=0.2,fields=[title^3,text])", "ql(mu=10)"):
        one, two = (found.search("w1 w2 w2 w3 w9", k=40, by=by) for found in (whole, index))
        assert one.ids == two.ids
        assert one.scores.tobytes() == two.scores.tobytes()
    whole.close()
    index.close()


def test_a_deleted_document_was_never_there(tmp_path):
    """Scores are bit for bit those of an index without it: terms are numbered otherwise, sums go by query word."""
    rng = np.random.default_rng(6)
    texts = [" ".join(rng.choice([f"w{k}" for k in range(20)], rng.integers(0, 9))) for _ in range(40)]
    documents = [{"id": str(k), "text": text} for k, text in enumerate(texts)]
    index = Index.create(tmp_path / "i", documents)
    gone = ["0", "7", "8", "39", "20"]
    index.delete(gone)
    other = Index.create(tmp_path / "other", [one for one in documents if one["id"] not in gone])
    for by in ("bm25", "ql"):
        one, two = (found.search("w1 w2 w3 w4 w4", k=40, by=by) for found in (index, other))
        assert one.ids == two.ids
        assert one.scores.tobytes() == two.scores.tobytes()
    index.close()
    other.close()


def test_replaced_then_deleted(tmp_path):
    index = make(tmp_path / "i", "old word", *["filler"] * 9)
    index.add([{"id": "0", "text": "new word"}], replace=True)
    assert index.search("old").ids == []
    assert index.search("new").ids == ["0"]
    assert len(index) == 10
    index.delete(["0"])
    assert index.search("word").ids == []
    assert len(index) == 9
    with pytest.raises(DataError, match="no document '0'"):
        index.document("0")
    index.close()


def test_delete_takes_a_list(tmp_path):
    index = Index.create(tmp_path / "i", [{"id": "a", "text": "x1"}, {"id": "b", "text": "x2"}])
    with pytest.raises(ParameterError, match=r"a list of ids is needed; got 'ab'"):
        index.delete("ab")
    assert len(index) == 2
    index.close()


def test_ids_with_blanks_and_of_other_scripts(tmp_path):
    ids = ["with blank", "日本", "a\tb", "x" * 500, " "]
    index = Index.create(tmp_path / "i", [{"id": id, "text": "word"} for id in ids])
    assert index.search("word").ids == ids
    assert index.ids(index.numbers(ids[::-1])) == ids[::-1]
    index.delete([" "])
    with pytest.raises(DataError, match="no document ' '"):
        index.numbers([" "])
    index.close()


def test_a_long_document_of_one_line_is_found(tmp_path):
    index = make(tmp_path / "i", "word " * 200_000 + "needle", "word")
    assert index.search("needle").ids == ["0"]
    index.close()


@pytest.mark.parametrize(
    "word", ["हिन्दी", "東京", "ภาษา", "كتاب", "Straße", "👍🏽", "🇩🇪", "naïve", "nai\u0308ve", "don’t"]
)
def test_words_of_many_scripts_are_found(tmp_path, word):
    index = make(tmp_path / "i", "plain text", f"before {word} after")
    assert index.search(word).ids == ["1"]
    index.close()


def test_wrong_arguments_are_refused(tmp_path):
    index = make(tmp_path / "i", "word")
    with pytest.raises(ParameterError, match="k must be at least 1"):
        index.search("word", k=0)
    with pytest.raises(ParameterError, match="No field 'titel'"):
        index.search("word", by="bm25(fields=[titel])")
    with pytest.raises(ParameterError, match=r"expected field\^weight"):
        index.search("word", by="bm25(fields=[text^x])")
    index.close()
    with pytest.raises(DataError, match="nothing to search"):
        Index.create(tmp_path / "n", [{"id": "a", "year": 7}])
    with pytest.raises(ParameterError, match="cannot be called 'whole'"):
        Index.create(tmp_path / "n", [{"id": "a", "whole": "x"}], fields=["whole"])
    with pytest.raises(DataError, match='needs an "id"'):
        Index.create(tmp_path / "m", [{"text": "x"}])
    with pytest.raises(IndexFileError, match="no such index"):
        Index.open(tmp_path / "missing")
    Index.create(tmp_path / "m", [{"id": "a", "text": "x"}]).close()  # what failed left nothing in the way


def test_a_filter_that_fails_leaves_no_scores_behind(tmp_path):
    index = make(tmp_path / "i", "word one", "word two", "other")
    before = index.search("word").scores.tolist()

    def broken(numbers):
        raise RuntimeError("no")

    with pytest.raises(RuntimeError, match="no"):
        index.search("word", where=broken)
    assert index.search("word").scores.tolist() == before
    assert index.search("word", where=lambda numbers: numbers > 0).ids == ["1"]
    index.close()


def test_threads_search_at_once(tmp_path):
    index = make(tmp_path / "i", *(f"word w{k % 7}" for k in range(200)))
    expected = {q: index.search(q, k=50).scores.tobytes() for q in ("word w1", "w2 w3", "w6")}
    wrong = []

    def work():
        for _ in range(50):
            wrong.extend(q for q, scores in expected.items() if index.search(q, k=50).scores.tobytes() != scores)
            index.refresh()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert not wrong
    index.close()


def test_the_analyser_and_the_fields_are_kept(tmp_path):
    index = Index.create(
        tmp_path / "i", [{"id": "a", "head": "Häuser", "body": "laufen"}], analyser="analyser(language=german)"
    )
    index.close()
    index = Index.open(tmp_path / "i")
    assert index.analyser == Analyser(language="german")
    assert index.fields == ("head", "body")
    assert index.search("haus").ids == ["a"]
    index.close()


def test_a_text_for_a_list_of_fields_and_a_list_for_a_text_are_refused(tmp_path):
    documents = [{"id": "a", "title": "heat"}]
    with pytest.raises(ParameterError, match=r"a list of fields is needed; got 'title'\. Write \['title'\]"):
        Index.create(tmp_path / "i", documents, fields="title")
    index = Index.create(tmp_path / "i", documents, fields=["title"])
    for wrong in (None, ["heat"], 7):
        with pytest.raises(ParameterError, match="a query is a text; got"):
            index.search(wrong)
    index.close()


def test_more_fields_than_can_be_searched_are_refused_before_anything_is_written(tmp_path):
    rows = [{"id": str(k), **{f"a{k}x{j}": f"red tents for {j} people" for j in range(51)}} for k in range(20)]
    with pytest.raises(DataError, match=r"1020 fields to search, e\.g\. a19x50; at most 1000 are"):
        Index.create(tmp_path / "i", rows)
    assert not list(tmp_path.iterdir())
    index = Index.create(tmp_path / "i", rows, fields=["a0x1"])
    assert index.search("tents").ids == ["0"]
    index.close()
