"""Metrics of users who stop, and of the first documents: worked numbers, limits, refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from podium.base.errors import DataError, ParameterError
from podium.evaluation.reconcile import reconcile_run
from podium.metrics import Metric

RANKED = [1, 2, 0, 0]


def ranked(name: str, labels: list[float], **more: object) -> float:
    """The metric of labels in rank order."""
    return float(Metric.parse(name)(-np.arange(len(labels)), labels, [0, len(labels)], **more)[0])  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("err", 0.53125), ("nerr", 0.68), ("pfound[gain=linear]", 0.925), ("pfound", 0.728125), ("arp", 5 / 3),
        ("compat", 0.664469), ("rbp(graded=true)", 0.26), ("insq", 0.366669), ("inst", 0.489644), ("f@1", 2 / 3),
        ("f@2", 1.0), ("f@3", 0.8), ("hits@4", 2.0), ("cg@4[gain=linear]", 3.0), ("best@4", 2.0), ("judged@4", 1.0),
        ("mean-label@4", 0.75), ("mean-label@2", 1.5), ("ndcg[discount=position]", 2.5 / 3.5), ("coverage", 2.0),
        ("bpm@4", 0.75), ("bpm(t=0.5)@4", 0.5), ("bpm(t=2)@10", 0.15), ("sdcg@2[gain=linear]", 0.693426),
        ("r-precision(times=1.5)", 2 / 3), ("relative-precision@1", 1.0), ("relative-precision@4", 1.0),
    ],
)  # fmt: skip
def test_the_number_of_a_list_with_labels_1_2_0_0(name: str, value: float) -> None:
    assert ranked(name, RANKED) == pytest.approx(value, abs=5e-7)


def test_a_discount_of_another_base_begins_at_its_base() -> None:
    wanted = 1 + 1 + 1 + 1 / math.log(4, 3)
    assert ranked("dcg[gain=linear,discount=log(3)]", [1, 1, 1, 1]) == pytest.approx(wanted)
    assert ranked("ndcg[log(2)]", [0, 1, 2, 1]) == pytest.approx(ranked("ndcg[letor]", [0, 1, 2, 1]))
    assert str(Metric.parse("ndcg@5[discount=log(2.5)]")) == "ndcg@5[discount=log(2.5)]"
    for wrong in ("log(1)", "log(x)", "log(0.5)", "ln", "log(1e999)"):
        with pytest.raises(ParameterError, match="discount must be"):
            Metric.parse(f"ndcg[discount={wrong}]")


def test_reconciling_words_a_discount() -> None:
    text = str(reconcile_run({"q": {"a": 1, "b": 2}}, {"q": {"a": 2.0, "b": 1.0}}, "ndcg[discount=position]", "ndcg"))
    assert "rank r counts 1/r" in text


def test_rbp_and_its_residual_bound_what_full_judgments_would_give() -> None:
    judgments = {"judged": [1, 0], "judged_offsets": [0, 2], "unjudged": [False, True, False, True]}
    low = ranked("rbp(p=0.7)", [1, 0, 0, 0], **judgments)
    residual = ranked("rbp-residual(p=0.7)", [1, 0, 0, 0], **judgments)
    assert low + residual == pytest.approx(0.3 * (1 + 0.7 + 0.7**3) + 0.7**4)
    assert ranked("rbp-residual", [1, 1, 0]) == pytest.approx(0.8**3)


def test_a_certain_document_ends_the_search() -> None:
    assert ranked("pfound[gain=linear]", [2, 1, 2]) == 1.0
    assert ranked("pfound[gain=linear]", [0.5, 0.25]) == pytest.approx(0.5 + 0.5 * 0.85 * 0.25)  # not over the largest
    prepare, swap = (metric := Metric.parse("pfound(decay=0.5)[gain=linear]")).swap_functions()
    for labels in ([2.0, 1.0, 2.0, 0.0], [1.0, 2.0, 0.0, 2.0], [0.0, 1.0, 1.0, 2.0], [2.0, 0.0, 1.0, 1.0]):
        config, work = metric.config_array(labels), np.empty(metric.work_size(4))
        prepare(np.array(labels), -np.sort(-np.array(labels)), config, work)
        before = ranked(str(metric), labels)
        for i in range(4):
            for j in range(i + 1, 4):
                swapped = labels.copy()
                swapped[i], swapped[j] = labels[j], labels[i]
                change = abs(ranked(str(metric), swapped) - before)
                assert swap(np.array(labels), config, work, i, j) == pytest.approx(change, abs=1e-12)


def test_a_label_above_the_stated_largest_grade_is_refused() -> None:
    for name in ("nerr", "pfound", "rbp(graded=true)", "insq", "inst", "bpm", "sdcg"):
        stated = name.replace(")", ",max_grade=2)") if "(" in name else f"{name}(max_grade=2)"
        with pytest.raises(DataError, match=r"label is 3, above max_grade=2"):
            ranked(stated, [3, 0])


def test_grades_up_to_1000_are_shares_of_the_largest() -> None:
    for name in ("rbp(graded=true)", "insq", "inst", "bpm@2", "sdcg@2[gain=linear]", "pfound[gain=linear]"):
        assert ranked(name, [1000, 500]) == pytest.approx(ranked(name, [2, 1]))


def test_compatibility_of_a_list_that_misses_relevant_documents() -> None:
    value = ranked("compat(p=0.5)", [1], judged=[1, 1, 1], judged_offsets=[0, 3])
    assert value == pytest.approx((1 + 0.5 / 2 + 0.25 / 3) / (1 + 0.5 + 0.25))


def test_a_walk_ends_at_rank_1000() -> None:
    behind = [0.0] * 1000 + [1.0]
    assert ranked("insq", behind) == ranked("inst", behind) == 0.0
    with pytest.raises(ParameterError, match="at most 1,000,000"):
        Metric.parse("sdcg@1000001")
