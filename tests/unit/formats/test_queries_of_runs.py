"""Qrels and runs that name queries by text get ids, and nothing is lost or doubled on the way."""

import pytest

from podium.base.errors import DataError
from podium.formats import Qrels, QueryTexts, Run, with_query_ids
from podium.formats.trec.query_names import differing_names
from reference.nested import nested

QUERIES = QueryTexts({"q1": "red shoes", "q2": "rain coat"}, "queries.csv")


def test_texts_become_ids_and_other_names_stay():
    qrels = Qrels.from_dict({"rain coat": {"a": 1}, "umbrella": {"b": 2}, "q1": {"c": 0}})
    renamed, notes = with_query_ids(qrels, QUERIES)
    assert nested(renamed) == {"q2": {"a": 1}, "umbrella": {"b": 2}, "q1": {"c": 0}}
    assert notes == [
        "judgments: 1 query found by text in queries.csv",
        "judgments: 1 of 3 queries not in queries.csv, e.g. 'umbrella'",
    ]


def test_two_spellings_of_a_query_are_joined():
    run = Run.from_dict({"Red shoes": {"a": 1.5}, "rain coat": {"b": 2}, "red  shoes": {"c": 0.5}})
    renamed, _ = with_query_ids(run, QUERIES)
    assert nested(renamed) == {"q1": {"a": 1.5, "c": 0.5}, "q2": {"b": 2}}


def test_a_document_under_two_spellings_of_a_query_is_refused():
    qrels = Qrels.from_dict({"rain coat": {"a": 1}, "Red shoes": {"a": 1}, "q1": {"b": 0, "a": 2}})
    with pytest.raises(DataError, match="document 'a' is there under 'Red shoes' and 'q1', which are all query 'q1'"):
        with_query_ids(qrels, QUERIES)


def test_ids_stay_without_a_word():
    qrels = Qrels.from_dict({"q1": {"a": 1}})
    assert with_query_ids(qrels, QUERIES) == (qrels, [])


def test_only_texts_on_one_side_are_a_hint():
    assert "by text, e.g. 'red shoes', the run by id, e.g. 'q1'" in differing_names(["red shoes"], ["q1"])
    assert "by id, e.g. 'q1', the run by text, e.g. 'red shoes'" in differing_names(["q1"], ["red shoes"])
    assert differing_names(["red shoes"], ["blue shoes"]) == differing_names(["1"], ["q1"]) == ""
