"""Judgments: rows from files and frames, pooling, and what is refused."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podium.base.errors import DataError, ParameterError
from podium.formats.trec.trec import Run
from podium.judgments.judgment_files import judgments_from
from podium.judgments.judgments import Judgments, judgments_from_frame, read_judgments
from podium.judgments.pooling import pool, write_sheet

CSV = "query,document,judge,grade\nq2,d1,ann,2\nq1,007,bob,0\nq2,d1,bob,1\nq1,7,ann,1\nq2,d9,ann,\n"


@pytest.fixture
def sheet(tmp_path):
    def write(text, name="votes.csv"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def test_a_csv_file_is_read_by_its_columns_and_ids_stay_text(sheet):
    votes = read_judgments(sheet(CSV))
    assert votes.item_names() == [("q2", "d1"), ("q1", "007"), ("q1", "7")]
    assert votes.judges == ("ann", "bob")
    assert list(zip(votes.items.tolist(), votes.judge_of.tolist(), votes.grades.tolist(), strict=True)) == [
        (0, 0, 2.0), (0, 1, 1.0), (1, 1, 0.0), (2, 0, 1.0),
    ]  # fmt: skip
    assert votes.unfilled == 1


def test_items_of_a_query_lie_together_whatever_the_order_of_rows():
    votes = Judgments.from_rows(list("abab"), list("wxyz"), ["j"] * 4, [0, 1, 2, 3])
    assert votes.offsets.tolist() == [0, 2, 4]
    assert votes.item_names() == [("a", "w"), ("a", "y"), ("b", "x"), ("b", "z")]
    assert votes.grades.tolist() == [0, 2, 1, 3]


def test_counts_are_votes_per_grade():
    votes = Judgments.from_rows(list("qqqq"), list("aaab"), list("xyzx"), [2, 0, 2, 5])
    assert votes.scale.tolist() == [0, 2, 5]
    assert votes.counts().tolist() == [[1, 2, 0], [0, 0, 1]]
    assert votes.votes.tolist() == [3, 1]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, lambda columns: pl.DataFrame(columns).lazy()])
def test_frames_are_read_with_missing_grades_left_out(make):
    frame = make({"qid": [1, 1, 2], "docid": ["a", "b", "a"], "judge": ["x", "y", "x"], "label": [1.0, None, 3.0]})
    votes = judgments_from_frame(frame)
    assert votes.item_names() == [("1", "a"), ("2", "a")]
    assert (votes.grades.tolist(), votes.unfilled) == ([1.0, 3.0], 1)


def test_a_parquet_file_is_read_as_a_csv_file_is(sheet, tmp_path):
    path = tmp_path / "votes.parquet"
    pl.read_csv(sheet(CSV), infer_schema_length=0).with_columns(pl.col("grade").cast(pl.Float64)).write_parquet(path)
    one, other = read_judgments(path), read_judgments(sheet(CSV))
    assert one.item_names() == other.item_names()
    np.testing.assert_array_equal(one.grades, other.grades)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query,document,grade\nq,d,1\n", r"votes.csv: no column 'judge'; expected query, document, judge and grade"),
        ("qid,document,sku,judge,grade\n1,1,d,j,1\n", "more than one column for the document: document, sku"),
        ("query,document,judge,grade\nq,d,j,good\n", r"votes.csv:2: the grade must be a number.*'good'"),
        ("query,document,judge,grade\nq,d,j,nan\n", r"votes.csv:2: the grade must be a number"),
        ("query,document,judge,grade\nq,d,,1\n", r"votes.csv:2: no judge"),
        ("query,document,judge,grade\nq,d,j\n", r"votes.csv:2: 3 values, but the first line names 4 columns"),
        ("query,document,judge,grade\nq,d,j,1\nq,e,j,1\nq,d,j,2\n", r"votes.csv:4: judge 'j' graded.*at line 2"),
        ("query,document,judge,grade\nq,d,j,\n", "no judgments"),
        ("", "no column 'query'"),
    ],
)
def test_what_is_wrong_in_a_file_is_said_with_its_line(sheet, text, message):
    with pytest.raises(DataError, match=message):
        read_judgments(sheet(text))


def test_columns_have_usual_names_or_those_that_are_given(sheet):
    usual = read_judgments(sheet("search_query,sku,rater,rating\nred shoes,p1,ann,2\n"))
    assert usual.guessed == "query = search_query, document = sku, judge = rater, grade = rating"
    named = read_judgments(sheet("a,b,c,d\nred shoes,p1,ann,2\n"), query="a", document="b", judge="c", grade="d")
    assert usual.item_names() == named.item_names() == [("red shoes", "p1")]
    assert usual.judges == named.judges == ("ann",)
    assert named.guessed is None


def test_a_column_for_each_judge_is_read_as_rows(sheet):
    votes = read_judgments(sheet("query,docid,Ann,bob@x.org\nq,a,2,\nq,b,1,0\n"))
    assert (votes.judges, votes.grades.tolist(), votes.unfilled) == (("Ann", "bob@x.org"), [2, 1, 0], 1)
    assert votes.guessed == "query = query, document = docid, judges = Ann, bob@x.org"


def test_a_book_of_quepid_is_read(sheet):
    votes = [
        {"rating": 2.0, "user_email": "ann@x.org"},
        {"rating": None, "unrateable": True, "user_email": "bob@x.org"},
    ]
    pairs = [{"query_text": "red shoes", "doc_id": "p 1", "position": 1, "document_fields": "{}", "judgements": votes}]
    book = read_judgments(sheet(json.dumps({"name": "Book", "query_doc_pairs": pairs}), "book.json"))
    assert (book.item_names(), book.judges, book.unfilled) == ([("red shoes", "p 1")], ("ann@x.org",), 1)


def test_one_judges_table_is_read_as_qrels_are(sheet):
    labels = judgments_from(str(sheet("query,document,label,support\nred shoes,p1,2,0.5\n", "labels.csv")))
    assert (labels.item_names(), labels.grades.tolist()) == ([("red shoes", "p1")], [2.0])


def test_columns_of_different_lengths_are_refused():
    with pytest.raises(DataError, match=r"different lengths: \[1, 2\]"):
        Judgments.from_rows(["q", "q"], ["a", "b"], ["x", "y"], [1])
    with pytest.raises(DataError, match=r"row 1: the grade must be a finite number; got inf"):
        Judgments.from_rows(["q", "q"], ["a", "b"], ["x", "y"], [1, np.inf])


ONE = Run.from_dict({"q": {"a": 3, "b": 2, "c": 1}, "r": {"x": 1}}, tag="one")
TWO = Run.from_dict({"q": {"c": 9, "a": 8, "d": 7}, "s": {"y": 1}}, tag="two")


def test_a_pool_is_the_union_of_the_tops():
    made = pool([ONE, TWO], 2)
    assert made.query_ids == ("q", "r", "s")
    assert made.offsets.tolist() == [0, 3, 4, 5]
    who = dict(zip(made.document_ids, made.found.tolist(), strict=True))
    assert who == {"a": [True, True], "b": [True, False], "c": [False, True], "x": [True, False], "y": [False, True]}
    assert made.alone().tolist() == [2, 2]


def test_the_order_of_a_pool_says_nothing_about_the_runs():
    swapped = [pool(runs, 3, seed=4).document_ids[:4] for runs in ([ONE, TWO], [TWO, ONE])]
    assert swapped[0] == swapped[1]
    assert len({pool([ONE, TWO], 3, seed=seed).document_ids[:4] for seed in range(50)}) > 10


def test_a_filled_sheet_is_read_back(tmp_path):
    made = pool([ONE, TWO], 2)
    write_sheet(made, tmp_path / "sheet.csv", judges=["ann", "bob"])
    lines = (tmp_path / "sheet.csv").read_text().splitlines()
    assert lines[0] == "query,document,judge,grade"
    assert len(lines) == 1 + 2 * 5
    (tmp_path / "sheet.csv").write_text("\n".join([lines[0], *(line + "1" for line in lines[1:6]), *lines[6:]]))
    votes = read_judgments(tmp_path / "sheet.csv")
    assert (votes.judges, votes.n_items, votes.unfilled) == (("ann",), 5, 5)


def test_judges_see_documents_in_different_orders(tmp_path):
    made = pool([Run.from_dict({"q": {str(d): d for d in range(30)}})], 30)
    write_sheet(made, tmp_path / "sheet.csv", judges=["ann", "bob"])
    rows = [line.split(",") for line in (tmp_path / "sheet.csv").read_text().splitlines()[1:]]
    orders = [[document for _, document, judge, _ in rows if judge == name] for name in ("ann", "bob")]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1])


def test_pools_that_mean_nothing_are_refused(tmp_path):
    with pytest.raises(ParameterError, match="depth must be at least 1"):
        pool([ONE], 0)
    with pytest.raises(DataError, match="as many different names; got one, one"):
        pool([ONE, ONE], 1)
    with pytest.raises(ParameterError, match="names that differ"):
        write_sheet(pool([ONE], 1), tmp_path / "s.csv", judges=["a", "a"])


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused(data, tmp_path):
    """Bytes of a good file changed, left out or put in anywhere; never another error than one about the data."""
    text = bytearray(CSV.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 3))
        text[at : at + cut] = data.draw(st.one_of(st.binary(max_size=3), st.sampled_from(CUTS)))
    path = tmp_path / "damaged.csv"
    path.write_bytes(bytes(text))
    said, votes = "", None
    try:
        votes = read_judgments(path)
    except DataError as error:
        said = str(error)
    assert "damaged.csv" in said if votes is None else np.isfinite(votes.grades).all()


CUTS = [b'"', b"\n", b",", b"\x00", b"1e999", b"-inf", b"\xff\xfe", b"\r", b"nan", b"0x1"]
