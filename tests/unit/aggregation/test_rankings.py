"""Rankings: the value, its constructors, and the files they come from."""

import gzip
import io

import numpy as np
import pandas as pd
import polars as pl
import pytest

from podium.aggregation.rankings.letor_agg import read_letor_agg
from podium.aggregation.rankings.rankings import Rankings
from podium.aggregation.rankings.rankings_files import read_rankings, read_runs
from podium.aggregation.rankings.rankings_table import rankings_from_frame
from podium.base.errors import DataError

NAN = float("nan")


def same(found, expected):
    return np.array_equal(found, np.array(expected), equal_nan=True)


def test_orders_become_dense_ranks_with_ties_and_gaps():
    votes = Rankings.from_orders([[["b", {"a", "c"}, "d"], ["c"], None], [[1, 2], None, [2]]])
    assert same(votes.query(0).matrix(), [[2, 1, 2, 3], [NAN, NAN, 1, NAN], [NAN] * 4])
    assert same(votes.query(1).matrix(), [[1, 2], [NAN, NAN], [NAN, 1]])
    assert votes.query(1).document_ids.tolist() == ["1", "2"]


def test_order_of_rows_does_not_matter():
    rows = [("q", "x", "a", 9), ("q", "x", "b", 4), ("q", "y", "b", 1), ("p", "y", "a", 2), ("p", "x", "a", 2)]
    one = Rankings.from_entries(*list(zip(*rows, strict=True))[:3], ranks=[r[3] for r in rows])
    turned = [rows[0], rows[2], rows[4], rows[3], rows[1]]
    other = Rankings.from_entries(*list(zip(*turned, strict=True))[:3], ranks=[r[3] for r in turned])
    for name in ("query_ids", "document_ids", "offsets", "documents", "ranks", "entry_offsets"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist(), name


def test_scores_rank_where_there_are_no_ranks():
    votes = Rankings.from_entries(list("qqqq"), list("xxxx"), list("abcd"), scores=[0.5, 2.0, 0.5, -1.0])
    assert same(votes.query(0).matrix(), [[2, 1, 2, 3]])


def test_completed_lists_have_what_was_left_out_tied_below():
    whole = Rankings.from_orders([[["b", "a"], [("a", "b"), "c"], ["d"], None]]).query(0).completed()
    assert same(whole.matrix(), [[2, 1, 3, 3], [1, 1, 2, 3], [2, 2, 2, 1], [NAN] * 4])
    assert whole.offsets.tolist() == [0, 4, 8, 12, 12]
    assert all((np.diff(whole.ranks[a : a + 4]) >= 0).all() for a in (0, 4, 8))


@pytest.mark.parametrize(
    ("orders", "message"),
    [
        ([[["a", "b", "a"]]], r"document a is ranked twice by voter 1 for query 0"),
        ([[["a"], []]], r"query 0, voter 2: an empty ranking. Write None"),
        ([[["a", ()]]], r"query 0, voter 1: a group of tied documents is empty at rank 2"),
        ([[["a"], ["b"]], [["a"]]], r"query 1: 1 orders for 2 voters; write None"),
    ],
)
def test_bad_orders_are_refused(orders, message):
    with pytest.raises(DataError, match=message):
        Rankings.from_orders(orders)


@pytest.mark.parametrize("weight", [0.0, -1.0, NAN, float("inf")])
def test_weights_must_be_above_zero(weight):
    with pytest.raises(DataError, match=r"the weight of voter '2' must be a number above 0"):
        Rankings.from_orders([[["a"], ["a"]]], weights=[1.0, weight])


def test_entries_need_a_rank_or_a_score():
    with pytest.raises(DataError, match=r"needs ranks or scores"):
        Rankings.from_entries(list("q"), list("x"), list("a"))
    with pytest.raises(DataError, match=r"entry 1 has no score"):
        Rankings.from_entries(list("qq"), list("xx"), list("ab"), scores=[1.0, NAN])


def write(folder, **files):
    paths = []
    for name, text in files.items():
        paths.append(folder / f"{name}.run")
        paths[-1].write_text(text)
    return paths


def test_runs_are_ranked_by_their_scores_not_by_their_ranks(tmp_path):
    paths = write(tmp_path, one="q Q0 a 1 0.5 t\nq Q0 b 2 0.9 t\nq Q0 c 3 0.5 t\n", two="q Q0 d 1 3 t\n")
    votes = read_runs(paths)
    assert votes.voters == ("one", "two")
    assert same(votes.query(0).matrix(), [[2, 1, 2, NAN], [NAN, NAN, NAN, 1]])
    assert votes.source(1) == str(paths[1])


def test_runs_over_different_queries_are_refused_by_file_and_line(tmp_path):
    paths = write(tmp_path, one="p Q0 a 1 1 t\n", two="p Q0 a 1 1 t\n# note\nq Q0 a 1 1 t\n")
    with pytest.raises(DataError, match=r"two.run:3: query q is ranked here but not in .*one.run"):
        read_runs(paths)
    allowed = read_runs(paths, missing="allow")
    assert np.diff(allowed.entry_offsets).tolist() == [1, 1, 0, 1]


def test_a_document_twice_in_a_run_is_refused_by_file_and_line(tmp_path):
    paths = write(tmp_path, one="p Q0 a 1 1 t\np Q0 b 1 1 t\np Q0 a 2 0 t\n")
    with pytest.raises(DataError, match=r"one.run:3: document 'a' stands twice"):
        read_runs(paths)


def test_an_empty_run_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"two.run: no lines"):
        read_runs(write(tmp_path, one="p Q0 a 1 1 t\n", two="\n"))


def test_a_run_given_twice_is_refused_and_equal_names_are_told_apart_by_folder(tmp_path):
    [path] = write(tmp_path, one="p Q0 a 1 1 t\n")
    (tmp_path / "sub").mkdir()
    [other] = write(tmp_path / "sub", one="p Q0 a 1 1 t\n")
    with pytest.raises(DataError, match=r"the same run is given twice"):
        read_runs([path, path])
    assert read_runs([path, other]).voters == (str(path), str(other))


def test_letor_agg_reads_ranks_nulls_and_grades():
    text = (
        b"2 qid:9 1:40 2:NULL #docid = GX1 inc = 1\n0 qid:9 1:3 2:8 #docid = GX2\n1 qid:9 1:NULL 2:NULL #docid = GX3\n"
    )
    votes = read_letor_agg(io.BytesIO(text))
    assert votes.query(0).document_ids.tolist() == ["GX1", "GX2"]
    assert same(votes.query(0).matrix(), [[1, 2], [NAN, 1]])
    assert votes.labels.tolist() == [2, 0]
    assert same(read_letor_agg(io.BytesIO(text), top="smallest").query(0).matrix(), [[2, 1], [NAN, 1]])


def test_letor_agg_lists_keep_the_order_of_their_numbers():
    votes = read_letor_agg(io.BytesIO(b"0 qid:1 10:1 2:1 #docid = a\n0 qid:1 1:4 10:2 #docid = b\n"))
    assert votes.voters == ("1", "2", "10")
    assert same(votes.query(0).matrix(), [[NAN, 1], [1, NAN], [2, 1]])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"0 1:3\n", r"<data>:1: expected label qid:query"),
        (b"0 qid:1 1:x #docid = a\n", r"<data>:1: the rank in list 1 must be a number; got 'x'"),
        (b"0 qid:1 1:1_0 #docid = a\n", r"<data>:1: the rank in list 1 must be a number; got '1_0'"),
        ("0 qid:1 ²:3 #docid = a\n".encode(), r"<data>:1: expected list:rank or list:NULL; got '²:3'"),
        (b"0 qid:1 a #docid = a\n", r"<data>:1: expected list:rank or list:NULL; got 'a'"),
        (b"0 qid:1 1:2 1:3 #docid = a\n", r"<data>:1: list 1 stands twice"),
        (b"0 qid:1 1:2 #docid = a\n1 qid:1 1:3 #docid = a\n", r"<data>:2: document a stands twice in query 1"),
        (b"0 qid:1 1:NULL #docid = a\n", r"<data>: no rankings"),
    ],
)
def test_bad_letor_agg_lines_are_refused_by_line(line, message):
    with pytest.raises(DataError, match=message):
        read_letor_agg(io.BytesIO(line))


@pytest.mark.parametrize(
    "library", [pd.DataFrame, pl.DataFrame, lambda d: pl.DataFrame(d).lazy(), lambda d: pl.DataFrame(d).to_arrow()]
)
def test_frames_of_any_library_give_the_same(library):
    frame = library({"qid": [1, 1, 1], "voter": ["x", "x", "y"], "document": ["a", "b", "b"], "score": [0.1, 0.7, 3.0]})
    votes = rankings_from_frame(frame)
    assert same(votes.query(0).matrix(), [[2, 1], [NAN, 1]])
    assert votes.scores.tolist() == [0.7, 0.1, 3.0]


def test_frames_with_something_missing_are_refused():
    frame = pd.DataFrame({"qid": [1, 1, 2], "voter": ["x", "y", "x"], "document": ["a", "a", "a"], "rank": [1, 1, 1]})
    with pytest.raises(DataError, match=r"voter y ranks nothing for query 2"):
        rankings_from_frame(frame)
    assert rankings_from_frame(frame, missing="allow").n_queries == 2
    with pytest.raises(DataError, match=r"no column 'voter'"):
        rankings_from_frame(frame.drop(columns="voter"))
    with pytest.raises(DataError, match=r"no column 'rank' or 'score'"):
        rankings_from_frame(frame.drop(columns="rank"))
    with pytest.raises(DataError, match=r"column 'rank' has missing values"):
        rankings_from_frame(frame.assign(rank=[1, None, 1]))
    with pytest.raises(DataError, match=r"row:1: document a is ranked twice by voter x for query 1"):
        rankings_from_frame(frame.assign(qid=1, voter="x"))


def test_the_format_of_a_file_is_known_by_its_content(tmp_path):
    preflib, letor = tmp_path / "votes", tmp_path / "agg.txt"
    preflib.write_text("# FILE NAME: v.soc\n1: 1,2\n")
    letor.write_text("0 qid:1 1:3 #docid = a\n")
    [run] = write(tmp_path, one="p Q0 a 1 1 t\n")
    assert read_rankings([preflib]).n_documents == 2
    assert read_rankings([letor]).labels is not None
    assert read_rankings([run]).voters == ("one",)
    with pytest.raises(DataError, match=r"agg.txt: a letor-agg file holds all its voters; give it alone"):
        read_rankings([run, letor])


CSV = "voter,query,document,rank,note\nx,7,007,2,\nx,7,b,1,\ny,7,b,1,tie\ny,7,007,1,tie\n"


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_tables_are_read_from_files(tmp_path, suffix):
    path = tmp_path / f"votes{suffix}"
    if suffix == ".parquet":
        pl.read_csv(io.StringIO(CSV), schema_overrides={"document": pl.String}).write_parquet(path)
    else:
        path.write_bytes(CSV.encode() if suffix == ".csv" else gzip.compress(CSV.encode()))
    votes = read_rankings([path])
    assert votes.query(0).document_ids.tolist() == ["007", "b"]  # an id, not a number
    assert votes.query_ids.tolist() == ["7"]
    assert same(votes.query(0).matrix(), [[2, 1], [1, 1]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "query,voter,rank\n1,x,1\n",
            r"votes.csv: no column 'document'; expected query, voter, .* got query, voter, rank",
        ),
        ("query,voter,document\n1,x,a\n", r"votes.csv: no column 'rank' or 'score'"),
        ("query,qid,voter,document,rank\n", r"votes.csv: more than one column for the query: query, qid"),
        ("query,voter,document,rank\n1,x,a,²\n", r"votes.csv:2: the rank must be a number; got '²'"),
        ("query,voter,document,score\n1,x,a,nan\n", r"votes.csv:2: the score must be a number; got 'nan'"),
        ("query,voter,document,rank\n1,x,a,1\n1,x,b\n", r"votes.csv:3: 3 values, but the first line names 4 columns"),
        ("query,voter,document,rank\n1,x,,1\n", r"votes.csv:2: no document"),
        ("query,voter,document,rank\n1,x,a,1\n1,x,a,2\n", r"votes.csv:3: document a is ranked twice by voter x"),
        ("query,voter,document,rank\n1,x,a,1\n2,y,a,1\n", r"votes.csv: voter y ranks nothing for query 1"),
        ("query,voter,document,rank\n", r"votes.csv: no rows"),
        ("", r"votes.csv: no column 'query'; .* got none"),
        ('query,voter,document,rank\n1,x,"a,1\n', r"votes.csv:\d: cannot be read as CSV"),
    ],
)
def test_tables_that_are_wrong_are_refused_by_line(tmp_path, text, message):
    path = tmp_path / "votes.csv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_rankings([path])


def test_a_parquet_file_that_is_none_is_refused(tmp_path):
    path = tmp_path / "votes.parquet"
    path.write_bytes(b"PAR1 and then nothing")
    with pytest.raises(DataError, match=r"votes.parquet: pyarrow cannot read this table"):
        read_rankings([path])
    pl.DataFrame({"qid": [1], "voter": ["x"], "document": ["a"], "rank": ["first"]}).write_parquet(path)
    with pytest.raises(DataError, match=r"votes.parquet: column 'rank' holds String, not numbers"):
        read_rankings([path])
