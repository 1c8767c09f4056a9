"""Results by segment of the queries."""

from __future__ import annotations

import numpy as np
import pytest

from podium.base.errors import DataError
from podium.evaluation.by_segment import compare_by_segment
from podium.evaluation.compare_runs import compare_runs
from podium.evaluation.evaluate import Evaluation, evaluate
from podium.evaluation.paired import t_test
from podium.metrics import Metric

MRR = (Metric.parse("mrr"),)


def evaluation(values: list[float] | np.ndarray) -> Evaluation:
    return Evaluation(MRR, np.array([values], float), tuple(f"q{k}" for k in range(len(values))))


def test_each_segment_has_its_queries_and_their_mean() -> None:
    parts = evaluation([0.1, 0.2, 0.4, 0.8]).by({"q0": "a", "q1": "b", "q2": "b", "q3": None})
    assert {name: part.query_ids for name, part in parts.items()} == {
        "b": ("q1", "q2"),
        "a": ("q0",),
        "(none)": ("q3",),
    }
    assert parts["b"].means()["mrr"].value == pytest.approx(0.3)
    frame = parts.to_frame()
    assert frame["segment"].tolist() == ["b", "a", "(none)"]
    assert frame["queries"].tolist() == [2, 1, 1]


def test_values_may_be_given_in_the_order_of_the_queries() -> None:
    parts = evaluation([0.1, 0.2, 0.4]).by(np.array([2, 1, 2]))
    assert {name: part.means()["mrr"].value for name, part in parts.items()} == {"2": pytest.approx(0.25), "1": 0.2}
    with pytest.raises(DataError, match="3 queries, but 2 segments"):
        evaluation([0.1, 0.2, 0.4]).by(["a", "b"])


def test_ids_are_compared_as_texts_and_others_are_an_error() -> None:
    numbered = evaluate([1, 0, 0, 1], [2.0, 1.0, 2.0, 1.0], "mrr", qid=[7, 7, 8, 8])
    assert set(numbered.by({7: "x", "8": "y"})) == {"x", "y"}
    with pytest.raises(
        DataError, match=r"no query of the evaluation has a segment: there are 7, 8 …, segments are of 07"
    ):
        numbered.by({"07": "x"})


def test_p_values_are_corrected_over_all_segments_and_systems() -> None:
    rng = np.random.default_rng(1)
    base = rng.uniform(size=90)
    systems = {"base": base, "up": base + rng.normal(0.03, 0.1, 90), "same": base + rng.normal(0, 0.1, 90)}
    names = [f"q{k}" for k in range(90)]
    places = {name: "abc"[k % 3] for k, name in enumerate(names)}
    found = compare_by_segment(
        {name: evaluation(values) for name, values in systems.items()}, places, baseline="base", test="t"
    )
    raw = {
        (segment, name): t_test((systems[name] - base)["abc".index(segment) :: 3])
        for segment in "abc"
        for name in ("up", "same")
    }
    ranked = sorted(raw.values())
    holm = np.minimum(np.maximum.accumulate([p * (6 - k) for k, p in enumerate(ranked)]), 1.0)
    expected = {key: holm[ranked.index(p)] for key, p in raw.items()}
    rows = found["mrr"].rows
    assert {(row.segment, row.system): row.p for row in rows if row.system != "base"} == {
        key: pytest.approx(p, rel=1e-9) for key, p in expected.items()
    }
    assert all(row.difference is None for row in rows if row.system == "base")
    assert [row.queries for row in rows] == [30] * 9


def test_a_segment_of_one_query_is_shown_and_not_tested() -> None:
    runs = {"a": evaluation([0.1, 0.2, 0.4, np.nan]), "b": evaluation([0.3, 0.5, 0.9, 0.5])}
    found = compare_by_segment(runs, ["x", "x", "y", "z"], baseline="a")["mrr"]
    untested = [row for row in found.rows if row.segment in "yz"]
    assert [(row.system, row.queries, row.p) for row in untested] == [
        ("a", 1, None),
        ("b", 1, None),
        ("a", 0, None),
        ("b", 0, None),
    ]
    assert "–" in repr(found)
    assert found.to_dict()["segments"][-1]["mean"] is None


def test_runs_are_compared_by_segment_with_the_first_unless_there_is_a_baseline() -> None:
    qrels = {f"q{k}": {"a": 1, "b": 0} for k in range(40)}
    good = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    mixed = {query: {"a": 2.0, "b": 1.0 if k % 2 else 3.0} for k, query in enumerate(qrels)}
    by = {query: "odd" if k % 2 else "even" for k, query in enumerate(qrels)}
    found = compare_runs(qrels, {"good": good, "mixed": mixed}, "mrr", by=by).segments["mrr"]
    assert found.baseline == "good"
    assert found.verdict() == "mixed is worse in even (-0.5000)"
    other = compare_runs(qrels, {"good": good, "mixed": mixed}, "mrr", by=by, baseline="mixed").segments["mrr"]
    assert other.verdict() == "good is better in even (+0.5000)"
