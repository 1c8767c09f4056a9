"""Runs compared query by query."""

import io

import pytest

from podium.data.trec import read_qrels, read_run
from podium.errors import DataError
from podium.evaluation.compare_runs import compare_runs

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
