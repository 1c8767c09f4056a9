"""TREC qrels and runs, and their join."""

import io
from dataclasses import replace

import numpy as np
import pytest

from podium.base.errors import DataError, ParameterError
from podium.data import Dataset
from podium.formats import Qrels, Run, join, read_qrels, read_run, write_qrels, write_run


def qrels(text: str):
    return read_qrels(io.BytesIO(text.encode()))


def run(text: str):
    return read_run(io.BytesIO(text.encode()))


def test_queries_are_grouped_however_the_lines_lie():
    found = qrels("# judged by hand\nq2 0 a 1\nq1 0 b 0\n\nq2\t0\tc -1\r\nq1 0 a 2\n")
    assert found.query_ids.tolist() == ["q2", "q1"]
    assert found.offsets.tolist() == [0, 2, 4]
    assert found.document_ids.tolist() == ["a", "c", "b", "a"]
    assert found.labels.tolist() == [1, -1, 0, 2]


def test_the_rank_of_a_run_is_ignored():
    found = run("q Q0 a 1 0.5 mine\nq Q0 b x 1e1 mine\n")
    assert found.scores.tolist() == [0.5, 10]
    assert found.tag == "mine"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("q 0 a 1\nq 0 a\n", r":2: expected 4 columns \(query iteration document grade\); got 3"),
        ("q 0 a 1\n\nq 0 a 1\n", r":3: document 'a' stands twice in query 'q'"),
        ("q 0 a one\n", r":1: the grade must be a finite number; got 'one'"),
        ("q 0 a nan\n", r":1: the grade must be a finite number"),
        ("# nothing\n", "no lines"),
    ],
)
def test_wrong_qrels_are_refused_with_their_line(text, message):
    with pytest.raises(DataError, match=message):
        qrels(text)


def test_wrong_runs_are_refused_with_their_line():
    with pytest.raises(DataError, match=r":1: expected 6 columns"):
        run("q Q0 a 1 0.5\n")
    with pytest.raises(DataError, match=r":2: document 'a' stands twice"):
        run("q Q0 a 1 0.5 t\nq Q0 a 2 0.4 t\n")
    with pytest.raises(DataError, match=r":1: the score must be"):
        run("q Q0 a 1 inf t\n")


def test_join_gives_unjudged_documents_grade_0_and_keeps_all_grades():
    judged = join(
        qrels("q1 0 a 2\nq1 0 b 1\nq2 0 c 1\nq3 0 d 0\n"),
        run("q2 Q0 x 1 3 t\nq1 Q0 b 1 2 t\nq1 Q0 z 2 1 t\nq9 Q0 a 1 1 t\n"),
    )
    assert judged.query_ids.tolist() == ["q1", "q2"]
    assert judged.offsets.tolist() == [0, 2, 3]
    assert judged.document_ids.tolist() == ["b", "z", "x"]
    assert judged.scores.tolist() == [2, 1, 3]
    assert judged.labels.tolist() == [1, 0, 0]
    assert judged.judged_offsets.tolist() == [0, 2, 3]
    assert judged.judged.tolist() == [2, 1, 1]
    assert (judged.n_qrels, judged.n_run, judged.n_both) == (3, 3, 2)


def test_join_of_all_queries_has_empty_ones_for_those_the_run_lacks():
    judged = join(qrels("q1 0 a 2\nq2 0 c 1\n"), run("q2 Q0 c 1 3 t\n"), all_queries=True)
    assert judged.query_ids.tolist() == ["q1", "q2"]
    assert judged.offsets.tolist() == [0, 0, 1]
    assert judged.judged_offsets.tolist() == [0, 1, 2]
    assert judged.n_both == 1


@pytest.mark.parametrize("size", [1, 3000])  # read line by line, and compiled
@pytest.mark.parametrize(("written", "expected"), [("3 1 2", [3, 1, 2]), ("3 x 2", None), ("1 1.5 2", None)])
def test_the_ranks_of_a_run_are_kept_if_all_are_whole_numbers(monkeypatch, size, written, expected):
    if size > 1:
        monkeypatch.setenv("PODIUM_COMPILE", "always")
    a, b, c = written.split()
    lines = [f"q{k} Q0 {d} {rank} 0.5 t\n" for k in range(size) for d, rank in (("a", a), ("b", b))]
    ranks = run("".join(lines) + f"q0 Q0 c {c} 0.5 t\n").ranks
    if expected is None:
        assert ranks is None
    else:
        assert ranks.tolist() == [*expected, *([int(a), int(b)] * (size - 1))]


def test_words_after_the_tag_of_a_run_are_ignored():
    assert run("q Q0 a 1 0.5 my tag has words\n").tag == "my"


def test_a_run_in_place_of_qrels_gets_a_hint_and_the_other_way_round():
    with pytest.raises(DataError, match=r"looks like a run: give the qrels first"):
        qrels("q Q0 a 1 0.5 t\n")
    with pytest.raises(DataError, match=r"looks like qrels: give the qrels first"):
        run("q 0 a 1\n")


def test_dictionaries_are_qrels_and_runs():
    from_files = join(qrels("q1 0 a 2\nq1 0 b 0\nq2 0 c 1\n"), run("q1 Q0 b 1 2 t\nq1 Q0 z 2 1 t\n"))
    from_dicts = join({"q1": {"a": 2, "b": 0}, "q2": {"c": 1}}, {"q1": {"b": 2.0, "z": np.float32(1)}})
    assert from_files.ranks.tolist() == [1, 2]
    for name, value in vars(replace(from_files, ranks=None)).items():  # a dictionary has none
        np.testing.assert_array_equal(value, getattr(from_dicts, name))
    assert Qrels.from_dict({7: {1: 1}}).query_ids.tolist() == ["7"]
    assert Run.from_dict({"q": {}}).offsets.tolist() == [0, 0]


@pytest.mark.parametrize(
    ("qrels", "run", "message"),
    [
        ({"q": {"a": None}}, {}, "query 'q', document 'a': the grade must be a finite number; got None"),
        ({"q": {"a": 1}}, {"q": {"a": "high"}}, "the score must be a finite number; got 'high'"),
        ({"q": ["a"]}, {}, "expected a dictionary document → grade"),
        ([("q", "a")], {}, "expected Qrels or a dictionary"),
        (Run.from_dict({"q": {"a": 1}}), {}, "got Run. Give the run second"),
        ({"q": {"a": 1}}, Qrels.from_dict({"q": {"a": 1}}), "got Qrels. Give the qrels first"),
    ],
)
def test_what_is_no_dictionary_of_numbers_is_refused(qrels, run, message):
    with pytest.raises(DataError, match=message):
        join(qrels, run)


def test_join_marks_documents_without_judgment():
    assert join({"q": {"a": 0, "b": -1}}, {"q": {"z": 3, "a": 2, "b": 1}}).unjudged.tolist() == [True, False, False]


def test_join_keeps_the_first_documents_by_score_and_then_by_the_last_id():
    scores = {"q": {"a": 1.0, "b": 2.0, "c": 1.0, "d": 1.0 + 1e-12}}
    kept = join({"q": {"a": 1}}, scores, max_documents=2)
    assert kept.document_ids.tolist() == ["b", "d"]
    assert join({"q": {"a": 1}}, scores, max_documents=3).document_ids.tolist() == ["b", "c", "d"]
    single = join({"q": {"a": 1}}, {"q": {"x": 1.0, "d": 1.0 + 1e-12}}, max_documents=1, precision="float32")
    assert single.document_ids.tolist() == ["x"]  # equal in single precision
    with pytest.raises(ParameterError, match="at least 1"):
        join({"q": {"a": 1}}, scores, max_documents=0)


def test_join_of_judged_documents_only_cuts_first_and_drops_then():
    judged, scores = {"q": {"a": 1, "b": -1, "c": 0}}, {"q": {"z": 4, "b": 3, "a": 2, "c": 1}}
    assert join(judged, scores, judged_only=True).document_ids.tolist() == ["a", "c"]
    assert join(judged, scores, judged_only=True, max_documents=3).document_ids.tolist() == ["a"]


def test_join_of_nothing_in_common_is_empty():
    judged = join(qrels("q1 0 a 2\n"), run("q2 Q0 c 1 3 t\n"))
    assert judged.offsets.tolist() == judged.judged_offsets.tolist() == [0]
    assert judged.labels.dtype == judged.scores.dtype == np.float64


def test_qrels_and_runs_round_trip(tmp_path):
    text = "q1 0 a 2\nq1 0 b 0\nq2 0 a 0.5\n"
    write_qrels(qrels(text), tmp_path / "qrels")
    assert (tmp_path / "qrels").read_text() == text
    written = io.BytesIO()
    write_run(run("q Q0 a 7 0.1 t\nq Q0 b 7 0.30000000000000004 t\nq Q0 c 7 0.1 t\n"), written)
    assert written.getvalue() == b"q Q0 b 1 0.30000000000000004 t\nq Q0 a 2 0.1 t\nq Q0 c 3 0.1 t\n"


def test_a_run_from_scores_names_documents_and_refuses_what_cannot_be_written(tmp_path):
    data = Dataset.from_arrays(np.eye(3), [1, 0, 2], qid=["b", "a", "b"], document_ids=["x", "y", "z z"])
    made = Run.from_scores(data, [1.0, 2.0, 3.0], tag="mine")
    assert made.query_ids.tolist() == ["b", "a"]
    assert made.document_ids.tolist() == ["x", "z z", "y"]
    with pytest.raises(DataError, match="'z z' has white space"):
        write_run(made, tmp_path / "run")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(DataError, match="2 scores for 3 documents"):
        Run.from_scores(data, [1.0, 2.0])
