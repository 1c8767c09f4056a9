"""Runs compared query by query."""

import io

import pytest

from podium.base.errors import DataError
from podium.evaluation.compare_runs import compare_runs, evaluate_runs
from podium.formats.trec.trec import read_qrels, read_run

QRELS = read_qrels(io.BytesIO(b"1 0 a 1\n2 0 b 1\n3 0 c 0\n4 0 d 1\n5 0 e 1\n"))


def run(text):
    return read_run(io.BytesIO(text.encode()))


FIRST = run("1 Q0 a 1 2 x\n2 Q0 b 1 2 x\n3 Q0 c 1 2 x\n4 Q0 z 1 2 x\n4 Q0 d 2 1 x\n")
SECOND = run("1 Q0 z 1 2 x\n1 Q0 a 2 1 x\n2 Q0 b 1 2 x\n")


def test_a_query_that_only_another_run_answers_counts_as_a_failure():
    found = compare_runs(QRELS, {"first": FIRST, "second": SECOND}, ["mrr"])["mrr"]
    # of queries 1, 2 and 4; 3 has nothing relevant, 5 nobody answers
    assert {name: one.mean for name, one in found.systems.items()} == {
        "first": pytest.approx((1 + 1 + 1 / 2) / 3),
        "second": pytest.approx((1 / 2 + 1 + 0) / 3),
    }
    assert found.systems["second"].queries == 3


def test_one_run_is_no_comparison():
    with pytest.raises(DataError, match="needs two runs; got first"):
        compare_runs(QRELS, {"first": FIRST})


def test_counts_and_geometric_means_are_in_what_is_reported():
    found = compare_runs(QRELS, {"first": FIRST, "second": SECOND}, ["num_ret", "num_rel", "gm_map", "unjudged@1"])
    assert {name: one.mean for name, one in found["num-ret"].systems.items()} == {"first": 5.0, "second": 3.0}
    # 3 relevant of the four queries that a run answers, though the second run answers two of them
    assert {name: one.mean for name, one in found["num-rel"].systems.items()} == {"first": 3.0, "second": 3.0}
    gmap = found["gm-map"].systems
    assert gmap["first"].mean == pytest.approx((1 * 1 * 1 / 2) ** (1 / 3))
    assert gmap["second"].mean == pytest.approx((1 / 2 * 1 * 1e-5) ** (1 / 3))
    assert gmap["second"].interval.low <= gmap["second"].mean <= gmap["second"].interval.high <= 1
    assert list(found["unjudged@1"].systems) == ["first", "second"]  # 1/4 and 1/4: less is better, ties by order


def test_less_is_better_where_the_metric_says_so():
    judged = {"1": {"a": 1}, "2": {"a": 1}}
    good, poor = {"1": {"a": 1.0}, "2": {"a": 1.0}}, {"1": {"z": 1.0}, "2": {"z": 1.0}}
    assert list(compare_runs(judged, {"poor": poor, "good": good}, "unjudged@1")["unjudged@1"].systems) == [
        "good",
        "poor",
    ]


def test_all_queries_and_other_options_reach_the_runs():
    found = evaluate_runs(QRELS, {"first": FIRST, "second": SECOND}, "mrr", all_queries=True)
    assert found["second"].query_ids == ("1", "2", "3", "4", "5")
    assert found["second"].means()["mrr"].value == pytest.approx((1 / 2 + 1) / 4)
    judged = evaluate_runs(QRELS, {"first": FIRST, "second": SECOND}, "mrr", judged_only=True)
    assert judged["second"].means()["mrr"].value == pytest.approx((1 + 1) / 3)
    one = evaluate_runs(QRELS, {"first": FIRST, "second": SECOND}, "num_ret", max_documents=1)
    assert one["first"].means()["num-ret"].value == 4.0
