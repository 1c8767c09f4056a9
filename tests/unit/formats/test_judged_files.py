"""Judgments and runs are read from every form in which tools and users keep them, and mean the same."""

import gzip
import io
import json
import math
from collections import namedtuple

import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podium.base.errors import DataError
from podium.formats import Qrels, Run, read_qrels, read_run, write_qrels, write_run
from podium.formats.trec.trec import as_qrels, as_run
from podium.judgments.judgments import read_judgments
from reference.nested import nested

GRADES = {"red shoes": {"p 1": 3.0, "p2": 0.0}, "rain coat": {"p9": 2.0}}
ROWS = [(query, document, grade) for query, grades in GRADES.items() for document, grade in grades.items()]


def table(*heads, separator=",", rows=ROWS):
    lines = [separator.join(heads), *(separator.join(map(str, row)) for row in rows)]
    return "\n".join(lines).encode()


QUEPID_CASE = b"""Team Name,Case Name,Case ID,Query Text,Doc ID,Doc Position,Title,Rating,brand
Search,Shoes,7,red shoes,p 1,1,"Red, and shiny",3,hoka
Search,Shoes,7,red shoes,p2,2,,0,
Search,Shoes,7,never rated,,,,,
Search,Shoes,7,rain coat,p9,1,,2,
"""
WORKBENCH = {
    "name": "shop", "description": "", "type": "IMPORT_JUDGMENT",
    "judgmentRatings": [
        {"query": "red shoes", "ratings": [{"docId": "p 1", "rating": "3.0"}, {"docId": "p2", "rating": "0.000"}]},
        {"query": "rain coat", "ratings": [{"docId": "p9", "rating": 2}]},
    ],
}  # fmt: skip
RANK_EVAL = {
    "templates": [{"id": "t", "template": {"source": {"query": {"match": {"title": {"query": "{{q}}"}}}}}}],
    "requests": [
        {"id": "red shoes", "request": {"query": {"match": {"title": "red shoes"}}}, "summary_fields": ["title"],
         "ratings": [{"_index": "shop", "_id": "p 1", "rating": 3}, {"_index": "shop", "_id": "p2", "rating": 0}]},
        {"id": "rain coat", "template_id": "t", "params": {"q": "rain coat"},
         "ratings": [{"_index": "shop", "_id": "p9", "rating": 2}]},
        {"id": "nothing", "request": {}, "ratings": []},
    ],
    "metric": {"dcg": {"k": 10, "normalize": True}},
    "max_concurrent_searches": 10,
}  # fmt: skip
ANSWER = {
    "metric_score": 0.4,
    "details": {
        "red shoes": {
            "metric_score": 0.4,
            "unrated_docs": [{"_index": "shop", "_id": "p7"}],
            "hits": [{"hit": {"_index": "shop", "_id": "p 1", "_score": 7.05}, "rating": 3},
                     {"hit": {"_index": "shop", "_id": "p7", "_score": 6.5}, "rating": None}],
            "metric_details": {"dcg": {"dcg": 7.0, "ideal_dcg": 7.0, "normalized_dcg": 1.0, "unrated_docs": 1}},
        }
    },
    "failures": {},
}  # fmt: skip
QUEPID_JSON = {
    "case_name": "Shoes", "scorer": {"name": "nDCG@10"}, "try": {},
    "queries": [
        {"query_text": "red shoes", "notes": None,
         "ratings": [{"doc_id": "p 1", "rating": 3}, {"doc_id": "p2", "rating": 0}]},
        {"query_text": "rain coat", "ratings": [{"doc_id": "p9", "rating": 2}]},
    ],
}  # fmt: skip
FORMS = {
    "csv": ("x.csv", table("query", "product_id", "rating")),
    "csv without an ending": ("x", table("search_query", "sku", "label")),
    "csv of a spreadsheet": ("x.csv", b"\xef\xbb\xbf" + table("Query", "URL", "Relevance", separator=";")),
    "csv with CRLF": ("x.csv", table("topic", "id", "judgment").replace(b"\n", b"\r\n") + b"\r\n\r\n"),
    "tsv": ("x.tsv", table("query_text", "document_id", "rel", separator="\t")),
    "csv.gz": ("x.csv.gz", gzip.compress(table("query", "pid", "grade"))),
    "json lines": (
        "x.jsonl",
        b"\n".join(json.dumps(dict(zip(("qid", "docid", "grade"), row, strict=True))).encode() for row in ROWS),
    ),
    "json": ("x.json", json.dumps([{"query": q, "doc_id": d, "relevance": g, "by": 1} for q, d, g in ROWS]).encode()),
    "one json line": ("x.json", json.dumps(GRADES).encode()),
    "BEIR": ("test.tsv", table("query-id", "corpus-id", "score", separator="\t")),
    "Quepid's ratings": ("x.csv", table("query", "docid", "rating", rows=[*ROWS, ("never rated", "", "")])),
    "Quepid's case": ("x.csv", QUEPID_CASE),
    "Quepid's case as JSON": ("x.json", json.dumps(QUEPID_JSON, indent=2).encode()),
    "Quepid's ratings as JSON": (
        "x.json", json.dumps({"queries": [{"query": q, "ratings": grades} for q, grades in GRADES.items()]}).encode()
    ),
    "Search Relevance Workbench": ("x.json", json.dumps(WORKBENCH, indent=2).encode()),
    "an answer of the Workbench": (
        "x.json", json.dumps({"took": 1, "hits": {"total": {}, "hits": [{"_id": "u", "_source": WORKBENCH}]}}).encode()
    ),
    "_rank_eval": ("x.json", json.dumps(RANK_EVAL, indent=1).encode()),
    "labels of a consensus": (
        "labels.csv",
        table("query", "document", "label", "support", "spread", "judgments", rows=[(*row, 1, 0, 2) for row in ROWS]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_judgments_are_the_same_in_every_form(form, tmp_path):
    name, text = FORMS[form]
    (tmp_path / name).write_bytes(text)
    assert nested(read_qrels(tmp_path / name)) == GRADES
    if not name.endswith((".csv.gz", ".csv")):
        assert nested(read_qrels(io.BytesIO(text))) == GRADES


def test_quepids_trec_export_with_blank_lines_is_read():
    text = b"\n11 0 p1 3\n\n\n11 0 p2 0\n\n\n12 0 p9 2\n\n"
    assert nested(read_qrels(io.BytesIO(text))) == {"11": {"p1": 3, "p2": 0}, "12": {"p9": 2}}


@pytest.mark.parametrize("answer", [ANSWER, {"rank_eval": ANSWER}], ids=["now", "of old versions"])
def test_an_answer_of_rank_eval_is_not_taken_for_judgments(answer, tmp_path):
    (tmp_path / "x.json").write_text(json.dumps(answer))
    for read in (read_qrels, read_run, read_judgments):
        with pytest.raises(DataError, match=r"x\.json: is an answer of _rank_eval.*Expected the body of the request"):
            read(tmp_path / "x.json")


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
def test_judgments_are_read_from_columnar_files(ending, tmp_path):
    frame = pl.DataFrame(ROWS, schema=["query", "sku", "rating"], orient="row")
    getattr(frame, {"parquet": "write_parquet", "arrow": "write_ipc"}[ending])(tmp_path / f"x.{ending}")
    qrels = read_qrels(tmp_path / f"x.{ending}")
    assert nested(qrels) == GRADES
    assert qrels.guessed == "query = query, document = sku, grade = rating"


def test_what_was_guessed_is_said():
    qrels = read_qrels(io.BytesIO(FORMS["Quepid's case"][1]))
    assert qrels.guessed == "query = Query Text, document = Doc ID, grade = Rating; 1 row without a grade left out"
    assert read_qrels(io.BytesIO(b"1 0 d 1\n")).guessed is None


def test_columns_can_be_named():
    text = table("words", "thing", "stars")
    assert nested(read_qrels(io.BytesIO(text), query="words", document="thing", grade="stars")) == GRADES


def test_ids_of_csv_stay_text_and_whole_numbers_of_json_are_written_without_a_point():
    assert nested(read_qrels(io.BytesIO(b"qid,docno,label\n01,007,1\n01,7,2\n"))) == {"01": {"007": 1, "7": 2}}
    assert nested(read_qrels(io.BytesIO(b'[{"qid": 1, "docno": 7.0, "label": true}]'))) == {"1": {"7": 1}}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"query,grade,word\n1,1,d\n", "<data>: no column 'document'; .*are 'query', 'grade', 'word'.*--document"),
        (b"query,sku,doc_id,grade\n1,a,b,1\n", "more than one column for the document: sku, doc_id.*document='sku'"),
        (b"query,sku,grade\nq,d,good\n", "<data>:2: the grade must be a number; got 'good'"),
        (b"query,sku,grade\nq,d,inf\n", "<data>:2: the grade must be a number"),
        (b"query,sku,grade\n,d,1\n", "<data>:2: no query. Fill it in"),
        (b"query,sku,grade\nq,d\n", "<data>:2: 2 values, but the first line names 3 columns"),
        (b"query,sku,grade,sku\nq,d,1,e\n", "two columns are called 'sku'"),
        (b"query,sku,grade\nq,d,\n", "no rows with a grade"),
        (b"query,sku,grade\nq,d,1\nq,e,1\nq,d,1\n",
         "<data>:4: document 'd' of query 'q' was there before, at <data>:2.*podium judges consensus <data> -o"),
        (b'{"q": {"d": 1}, "q": {"e": 1}}', "'q' is there twice in one JSON object"),
        (b'{"q": {"d": "x"}}', "<data>: query 'q', document 'd': the grade must be a finite number; got 'x'"),
        (b'{"requests": [{"id": "a", "ratings": [{"rating": 1}]}]}', "query 1: no document: expected docId or doc_id"),
        (b'{"requests": [{"id": "a", "ratings": 7}]}', "query 1: its ratings must be a list of objects"),
        (b'{"requests": [{"id": "a", "ratings": []}]}', "no judgments: none of its queries has ratings"),
        (b'{"requests": {}}', "no judgments: none of its queries has documents"),
        (
            b'[{"query": "q\\u0000", "document": "d", "grade": 1}, {"query": "q\\u0000", "document": "d", "grade": 1}]',
            r"document 'd' of query 'q\\x00' was there before, at <data>: row 1",
        ),
        (b'{"query": "a", "docid": "d", "grade": [1]}', "the grade .1. is no number"),
        (b'[{"query": "a"}, 7]', "row 2: expected an object with named values; got 7"),
        (b'[{"query": ' + b"[" * 100_000, "cannot be read as JSON"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_judgments_is_said_with_its_place(text, message):
    with pytest.raises(DataError, match=message):
        read_qrels(io.BytesIO(text))


def test_a_pipe_is_read_as_trec_text(tmp_path):
    import os
    import threading

    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=lambda: (tmp_path / "pipe").write_bytes(b"q 0 d 1\n"))
    writer.start()
    assert nested(read_qrels(tmp_path / "pipe")) == {"q": {"d": 1}}
    writer.join()


def test_a_beir_folder_means_its_test_judgments(tmp_path):
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "train.tsv").write_text("query-id\tcorpus-id\tscore\nq\td\t1\n")
    assert nested(read_qrels(tmp_path)) == {"q": {"d": 1}}
    (tmp_path / "qrels" / "test.tsv").write_bytes(FORMS["BEIR"][1])
    qrels = read_qrels(tmp_path)
    assert nested(qrels) == nested(read_qrels(tmp_path / "qrels")) == GRADES
    assert qrels.guessed == f"the judgments of {tmp_path}; query = query-id, document = corpus-id, grade = score"
    assert qrels.source == str(tmp_path / "qrels" / "test.tsv")
    (tmp_path / "qrels" / "test.tsv").rename(tmp_path / "qrels" / "dev.tsv")
    with pytest.raises(DataError, match=r"it holds dev\.tsv, train\.tsv\. Name the file"):
        read_qrels(tmp_path)


SCORES = {"1": {"b": 2.5, "a": 1.0}, "2": {"c": -1.0}}
RUNS = {
    "PyTerrier's results": {"qid": ["1", "1", "2"], "docid": [10, 11, 12], "docno": ["a", "b", "c"],
                            "rank": [1, 0, 0], "score": [1.0, 2.5, -1.0], "query": ["x y", "x y", "z"]},
    "ir_measures": {"query_id": ["1", "1", "2"], "doc_id": ["a", "b", "c"], "score": [1.0, 2.5, -1.0]},
    "numbers as ids": {"qid": [1, 1, 2], "docno": ["a", "b", "c"], "score": [1.0, 2.5, -1.0]},
}  # fmt: skip


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda columns: pl.DataFrame(columns).lazy()])
@pytest.mark.parametrize("form", RUNS)
def test_frames_are_runs(form, make):
    assert nested(as_run(make(RUNS[form]))) == SCORES


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_frames_are_judgments(make):
    pyterrier = make({"qid": ["2", "1"], "docno": ["c", "a"], "label": [1, 0], "iteration": ["0", "0"]})
    measures = make({"query_id": ["2", "1"], "doc_id": ["c", "a"], "relevance": [1, 0]})
    assert nested(as_qrels(pyterrier)) == nested(as_qrels(measures)) == {"2": {"c": 1}, "1": {"a": 0}}


def test_a_run_without_scores_is_ranked_by_its_ranks():
    snapshot = (
        b"Snapshot Name,Snapshot Time,Case ID,Query Text,Doc ID,Doc Position,title\ns,t,1,x y,a,2,A\ns,t,1,x y,b,1,B\n"
    )
    assert nested(read_run(io.BytesIO(snapshot))) == {"x y": {"a": -2.0, "b": -1.0}}


def test_a_run_needs_every_score_and_each_document_once():
    with pytest.raises(DataError, match="<data>:3: no score"):
        read_run(io.BytesIO(b"qid,docno,score\n1,a,2\n1,b,\n"))
    with pytest.raises(DataError, match=r"<data>:3: document 'a' .* was there before, at <data>:2\. Keep one"):
        read_run(io.BytesIO(b"qid,docno,score\n1,a,2\n1,a,3\n"))
    with pytest.raises(DataError, match="no column 'score'; expected query, document and score"):
        read_run(io.BytesIO(b"qid,docno,label\n1,a,2\n"))


def test_named_tuples_are_judgments_and_runs_also_from_a_generator():
    Qrel = namedtuple("Qrel", ["query_id", "doc_id", "relevance", "iteration"])
    ScoredDoc = namedtuple("ScoredDoc", ["query_id", "doc_id", "score"])
    assert nested(as_qrels(Qrel("1", d, g, "0") for d, g in (("a", 1), ("b", 0)))) == {"1": {"a": 1, "b": 0}}
    assert nested(as_run([ScoredDoc("1", "a", 0.5)])) == {"1": {"a": 0.5}}


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x.json", "x.parquet"])
def test_ids_with_blanks_are_written_and_read_back(name, tmp_path):
    write_qrels(Qrels.from_dict(GRADES), tmp_path / name)
    assert nested(read_qrels(tmp_path / name)) == GRADES
    run = Run.from_dict({"red shoes": {"p2": 0.1 + 0.2, "p 1": 1.5}})
    write_run(run, tmp_path / name, top=1)
    assert nested(read_run(tmp_path / name)) == {"red shoes": {"p 1": 1.5}}


def test_a_trec_file_refuses_blanks_and_names_the_forms_that_hold_them(tmp_path):
    with pytest.raises(DataError, match=r"'red shoes' has white space.*\.csv, \.json or \.parquet"):
        write_qrels(Qrels.from_dict(GRADES), tmp_path / "x.qrels")
    with pytest.raises(DataError, match=r"'red shoes' has white space.*\.csv, \.json or \.parquet"):
        write_run(Run.from_dict(GRADES), tmp_path / "x.run")


def test_rows_that_have_no_names_in_common_are_refused():
    with pytest.raises(DataError, match="20000 rows have 20000 different names, and few in common"):
        as_run([{f"c{k}": 1} for k in range(20_000)])


CUTS = [
    b'"',
    b"\n",
    b",",
    b"\t",
    b";",
    b"\x00",
    b"1e999",
    b"nan",
    b"\xff\xfe",
    b"\r",
    b"[",
    b"}",
    b"{",
    b"null",
    b"\\ud800",
]


@settings(max_examples=200, deadline=None)
@given(form=st.sampled_from([form for form in FORMS if not FORMS[form][0].endswith(".gz")]), data=st.data())
def test_damaged_judgments_are_read_or_refused(form, data):
    """Bytes of a good file changed, left out or put in anywhere: never another error than one about the data."""
    text = bytearray(FORMS[form][1])
    for _ in range(data.draw(st.integers(1, 4))):
        at, cut = data.draw(st.integers(0, len(text))), data.draw(st.integers(0, 3))
        text[at : at + cut] = data.draw(st.one_of(st.binary(max_size=3), st.sampled_from(CUTS)))
    for read in (read_qrels, read_run):
        said, judged = "", None
        try:
            judged = read(io.BytesIO(bytes(text)))
        except DataError as error:
            said = str(error)
        numbers = [] if judged is None else [value for values in nested(judged).values() for value in values.values()]
        assert all(map(math.isfinite, numbers)) if judged is not None else "<data>" in said
