"""Texts of queries become ids in one way, whatever file they come from."""

import io
import json

import pytest

from podium.base.errors import DataError
from podium.formats.query_texts import QueryTexts

QUERIES = {"q1": "red shoes", "q2": "rain coat"}
FORMS = {
    "JSON lines": b'{"id": "q1", "text": "red shoes"}\n{"id": "q2", "text": "rain coat"}\n',
    "BEIR": b'{"_id": "q1", "text": "red shoes", "metadata": {}}\n{"_id": "q2", "text": "rain coat"}\n',
    "JSON": json.dumps([{"qid": id, "query": text} for id, text in QUERIES.items()], indent=1).encode(),
    "CSV": b"query_id,query\nq1,red shoes\nq2,rain coat\n",
    "CSV of Windows": b"\xef\xbb\xbfQuery_Id;Query\r\nq1;red shoes\r\nq2;rain coat\r\n",
    "TSV": b"qid\tquery_text\nq1\tred shoes\nq2\train coat\n",
    "TSV without names": b"q1\tred shoes\nq2\train coat\n",
    "TREC topics": b"<top><num> Number: q1 <title> red shoes\n</top><top><num>q2<title>rain coat</top>",
}


@pytest.mark.parametrize("form", FORMS)
def test_queries_are_read_from_every_form(form):
    assert QueryTexts.read(io.BytesIO(FORMS[form])).texts == QUERIES


def test_queries_are_read_from_parquet_and_gzip(tmp_path):
    import gzip

    import polars as pl

    pl.DataFrame({"qid": [1, 2], "query": ["red shoes", "rain coat"]}).write_parquet(tmp_path / "queries.parquet")
    assert QueryTexts.read(tmp_path / "queries.parquet").texts == {"1": "red shoes", "2": "rain coat"}
    (tmp_path / "queries.csv.gz").write_bytes(gzip.compress(FORMS["CSV"]))
    assert QueryTexts.read(tmp_path / "queries.csv.gz").texts == QUERIES


def test_columns_can_be_named():
    texts = QueryTexts.read(io.BytesIO(b"nr,id,words\n1,x,red shoes\n"), id="nr", text="words").texts
    assert texts == {"1": "red shoes"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"", "no column for the id of queries"),
        (b"qid,words\n1,red\n", "no column for the text of queries; looked for text, query.*there are 'qid', 'words'"),
        (b"qid,query\n1,red\n1,blue\n", r"<data>:3: query '1' is there twice"),
        (b"qid,query\n,red\n", "a query needs an id and a text; got ''"),
        (b'[{"id": 1, "text": null}]', "a query needs an id and a text; got 1 and None"),
        (b'{"id": 1, "id": 2, "text": "x"}', "'id' is there twice in one JSON object"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"id": 1, "text": "x"}\n{"id": 2, ', "<data>:2: cannot be read as JSON"),
    ],
)
def test_what_is_wrong_with_a_file_of_queries_is_said(text, message):
    with pytest.raises(DataError, match=message):
        QueryTexts.read(io.BytesIO(text))


def test_a_column_that_is_not_there_is_an_error():
    with pytest.raises(
        DataError, match="no column for the id of queries; none is called 'nr'; there are 'qid', 'query'"
    ):
        QueryTexts.read(io.BytesIO(b"qid,query\n1,red\n"), id="nr")


def test_an_id_stays_also_if_it_is_the_text_of_another_query():
    assert QueryTexts({"1": "2", "2": "shoes"}).to_ids(["2", "shoes"], where="x") == ["2", "2"]


def test_an_exact_text_comes_before_a_normalised_one():
    queries = QueryTexts({"a": "US", "b": "us"})
    assert queries.to_ids(["us", "US"], where="x") == ["b", "a"]
    with pytest.raises(DataError, match=r"labels\.csv: 'Us' is the text of 2 queries of the queries: a, b"):
        queries.to_ids(["Us"], where="labels.csv")


@pytest.mark.parametrize("text", ["Red Shoes", " red \t shoes ", "ｒｅｄ shoes", "RED\u00a0SHOES"])
def test_texts_that_differ_in_case_white_space_and_width_are_one(text):
    assert QueryTexts(QUERIES).to_ids([text], where="x") == ["q1"]


def test_a_text_of_two_queries_is_refused():
    with pytest.raises(DataError, match="'shoes' is the text of 2 queries of the queries: a, b"):
        QueryTexts({"a": "shoes", "b": "shoes"}).to_ids(["shoes"], where="log")


def test_names_that_are_neither_id_nor_text_are_counted():
    queries = QueryTexts(QUERIES, "queries.csv")
    assert queries.unmatched(["q1", "umbrella", "rain coat"], where="log") == (
        "log: 1 of 3 queries not in queries.csv, e.g. 'umbrella'"
    )
    assert queries.unmatched(["q1"], where="log") is None
